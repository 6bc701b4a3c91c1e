// Menus and lists of choices that open over the page: Escape or a click elsewhere closes them.
(() => {
  const open = () => [...document.querySelectorAll("details.menu[open], details.choice[open]")];

  // A list that would run over the page's edge opens towards the other side. On a phone it is as wide as the page.
  document.addEventListener("toggle", ({ target }) => {
    if (!target.open || !target.matches("details.choice")) return;
    target.classList.remove("from-end");
    const { right } = target.querySelector("fieldset").getBoundingClientRect();
    target.classList.toggle("from-end", right > document.documentElement.clientWidth);
  }, { capture: true });

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
