/* The guidelines over the rating page. Without this file the link in the header leads to their own page. */
(() => {
  "use strict";

  const dialog = document.getElementById("guidelines");
  const item = document.getElementById("item");
  const link = document.querySelector(`header nav a[href="${dialog.dataset.address}"]`);
  if (!link || !item) return; // the project has none
  const text = dialog.querySelector(".text");
  let shown = ""; // language and question of the text in the dialog; the same again keeps its place

  async function load(language) {
    if (text.dataset.language === language) return;
    text.textContent = word("loading");
    try {
      // As htmx asks, because only the text is wanted.
      const response = await fetch(`${dialog.dataset.address}?${new URLSearchParams({ language })}`, { headers: { "HX-Request": "true" } });
      if (!response.ok || response.redirected) throw new Error(String(response.status));
      text.innerHTML = await response.text();
      text.dataset.language = language;
    } catch {
      text.textContent = word("no-guidelines");
    }
  }

  async function open() {
    const { language } = document.getElementById("item").dataset;
    const question = document.querySelector("#item .question.current")?.id.replace("question-", "guidelines-") || "";
    dialog.showModal();
    text.focus();
    await load(language);
    if (shown === `${language} ${question}`) return;
    shown = `${language} ${question}`;
    text.scrollTop = 0;
    document.getElementById(question)?.scrollIntoView();
  }

  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab of its own
    event.preventDefault();
    open();
  });
  text.addEventListener("click", (event) => {
    const section = event.target.closest('a[href^="#"]');
    if (!section) return;
    event.preventDefault(); // keep the address of the rating page
    document.getElementById(section.hash.slice(1))?.scrollIntoView();
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close(); // beside the dialog
  });
  document.addEventListener("guidelines", open); // rate.js reads the keys
})();
