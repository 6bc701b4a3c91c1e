// Buttons that copy the text of the element they name; without this script they stay hidden and the text can be selected.
(() => {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    if (!navigator.clipboard) continue; // not over plain HTTP
    button.hidden = false;
    button.addEventListener("click", async () => {
      const said = button.textContent;
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = said; }, 2000);
    });
  }
})();
