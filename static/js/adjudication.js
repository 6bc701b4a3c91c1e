// Deciding by keyboard: one question is the current one; an answer moves on to the next.
(() => {
  const form = document.getElementById("decisions");
  const questions = () => [...form.querySelectorAll(".question")].filter((each) => each.checkVisibility());
  const current = () => form.querySelector(".question.current");

  function mark(question, { focus = true } = {}) {
    for (const other of form.querySelectorAll(".question")) other.classList.toggle("current", other === question);
    if (!question || !focus) return;
    question.focus({ preventScroll: true });
    question.scrollIntoView({ block: "nearest" });
  }

  function step(by) {
    const all = questions();
    const at = all.indexOf(current());
    mark(all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]);
  }

  function choose(number) {
    const radios = [...(current()?.querySelectorAll("input[type=radio]") || [])];
    const wanted = radios.find((radio) => radio.value === number) || radios[Number(number) - 1];
    if (!wanted) return;
    wanted.checked = true;
    step(1);
  }

  form.addEventListener("focusin", ({ target }) => {
    const question = target.closest(".question");
    if (question) mark(question, { focus: false });
  });

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    if (key === "Escape" && target.matches("textarea")) return mark(current());
    if (target.matches("textarea, select, input:not([type=radio])")) return;
    if ((key === "Enter" || key === " ") && target.closest("a, button, summary")) return;
    const letter = key.toLowerCase();
    if (/^[1-9]$/.test(key)) choose(key);
    else if (key === "Enter") form.requestSubmit();
    else if (key === "Backspace") step(-1);
    else if (letter === "c") current()?.querySelector("textarea")?.focus();
    else if (letter === "n") document.querySelector("a[rel=next]")?.click();
    else if (letter === "p") document.querySelector("a[rel=prev]")?.click();
    else return;
    event.preventDefault();
  });

  document.documentElement.classList.add("has-keys");
  document.querySelector(".keys-help").hidden = false;
  const wanted = document.getElementById(`question-${form.dataset.first}`); // the question that the queue is about
  mark(form.querySelector(".question.missing") || wanted || questions()[0], { focus: false });
})();
