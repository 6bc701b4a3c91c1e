// Asks before the page is left with changes of a form that are not saved.
(() => {
  const form = document.querySelector("form[data-warn-unsaved]");
  const content = () => JSON.stringify([...new FormData(form)]);
  const opened = content();
  let sent = false;
  form.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (event) => {
    if (!sent && content() !== opened) event.preventDefault();
  });
})();
