// Tagging by keyboard: one row is the current one; a tag moves on to the next row that has none.
(() => {
  const rows = () => [...document.querySelectorAll(".apart-row")];
  const verdict = (row) => row.querySelector("form.verdict");
  const isTagged = (row) => verdict(row).hasAttribute("data-tagged");
  const current = () => document.querySelector(".apart-row.current");

  function mark(row) {
    if (!row) return;
    for (const other of rows()) other.classList.toggle("current", other === row);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function step(by) {
    const all = rows();
    const at = all.indexOf(current());
    mark(all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]);
  }

  function nextUntagged(from) {
    const all = rows();
    const after = all.indexOf(from) + 1;
    mark([...all.slice(after), ...all.slice(0, after)].find((row) => !isTagged(row)) || from || all[0]);
  }

  function press(row, number) {
    const buttons = [...row.querySelectorAll(".verdicts button")];
    const wanted = number === 0 ? buttons.find((button) => !button.value) : buttons[number - 1];
    if (wanted && (number === 0 || wanted.value)) wanted.click();
  }

  let moveOn = false; // after a tag by key; after one by mouse the reader decides where to go
  document.addEventListener("htmx:afterSettle", () => {
    if (!moveOn) return;
    moveOn = false;
    nextUntagged(current());
  });
  document.addEventListener("htmx:responseError", () => { moveOn = false; });
  document.addEventListener("htmx:sendError", () => { moveOn = false; });

  document.addEventListener("focusin", ({ target }) => {
    const row = target.closest(".apart-row");
    if (row) for (const other of rows()) other.classList.toggle("current", other === row);
  });

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || !rows().length) return;
    if (key === "Escape" && target.matches(".verdict input")) return mark(current());
    if (target.matches("input, select, textarea")) return;
    if (key === "Enter" && target.closest("a, button, summary")) return;
    const row = current();
    const letter = key.toLowerCase();
    if (letter === "j") step(1);
    else if (letter === "k") step(-1);
    else if (letter === "n") nextUntagged(row);
    else if (!row) return;
    else if (key === "Enter") row.querySelector(".read > summary").click();
    else if (letter === "c" && verdict(row)) verdict(row).querySelector("input[name=note]").focus();
    else if (/^[0-4]$/.test(key) && verdict(row) && !event.repeat) {
      moveOn = key !== "0";
      press(row, Number(key));
    } else return;
    event.preventDefault();
  });

  const help = () => { for (const text of document.querySelectorAll(".keys-help")) text.hidden = false; };
  document.addEventListener("htmx:load", help);
  help();
})();
