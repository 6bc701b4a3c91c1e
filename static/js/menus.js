// Menus and lists of choices that open over the page: Escape or a click elsewhere closes them.
(() => {
  const open = () => [...document.querySelectorAll("details.menu[open], details.choice[open]")];

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    }
  });
  document.addEventListener("click", ({ target }) => {
    for (const menu of open()) if (!menu.contains(target)) menu.open = false;
  });
})();
