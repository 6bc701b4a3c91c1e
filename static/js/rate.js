/* Keys, drafts and focus of the rating page. Without this file the page is a plain form. */
(() => {
  "use strict";

  const AUTOSAVE_AFTER_MS = 2000;
  const CHOICE_KEYS = ["j", "k", "l"];
  const UNAVAILABLE_STATUSES = [502, 503, 504]; // of Touchstone, or of a proxy that does not reach it
  const SEND_AGAIN_AFTER_MS = [2000, 4000, 8000, 15000]; // and then every 15 seconds

  let acknowledged = new Map(); // question id -> the answer and comment that the server has confirmed
  let autosaveTimer = 0;
  let autosaved = false; // one autosave a stage; submitting and leaving the page save the rest
  let sentLast = ""; // hiding and leaving the page are two events; the second must not send the same again
  let prepared = null; // the form of the stage on the page
  let sentFrom = ""; // when kept answers that are being submitted were given
  let again = null; // sends what could not be sent; null while nothing waits
  let againTimer = 0;
  let attempts = 0; // sent in vain since the server last answered

  const item = () => document.getElementById("item");
  const questions = () => [...document.querySelectorAll("#item .question")];
  const radios = (question) => [...question.querySelectorAll("input[type=radio]")];
  const comment = (question) => question.querySelector("textarea");
  const chosen = (question) => radios(question).find((radio) => radio.checked);
  const missing = () => questions().filter((question) => !chosen(question));
  const marked = () => document.querySelector("#item .question.current");
  const sending = () => item().classList.contains("htmx-request");

  // ---- a new stage on the page

  function prepare() {
    if (!item()) return;
    const isOpened = !prepared;
    if (prepared && !isSameStage(prepared, item())) {
      keptAnswers.forget(prepared);
      keptAnswers.say(sentFrom && word("saved", { moment: sentFrom }));
      sentFrom = "";
    }
    prepared = item();
    clearTimeout(autosaveTimer);
    stopSendingAgain();
    autosaved = false;
    sentLast = "";
    attempts = 0;
    acknowledged = new Map(
      questions().map((question) => [question.id, savedMark(question).hidden ? "" : content(question)]),
    );
    const kept = keptAnswers.of(item());
    if (kept) restore(kept);
    update();
    if (isOpened && kept?.submitted && !missing().length) submitKept(kept);
    const first = document.querySelector("#item .question.missing") || questions().find((q) => !chosen(q));
    mark(first || questions()[0], { scroll: false });
  }

  const isSameStage = (one, other) =>
    one.getAttribute("action") === other.getAttribute("action") && one.elements.stage.value === other.elements.stage.value;

  // ---- what is saved and what is not

  const savedMark = (question) => question.querySelector(".saved");

  function content(question) {
    const value = chosen(question)?.value || "";
    const text = comment(question).value.trim();
    return value || text ? JSON.stringify([value, text]) : "";
  }

  const unsaved = () => questions().some((question) => content(question) !== acknowledged.get(question.id));

  function update() {
    for (const question of questions()) {
      const now = content(question);
      savedMark(question).hidden = !now || now !== acknowledged.get(question.id);
    }
    const left = missing().length;
    document.querySelector("#item .to-go").textContent = left ? word("to-go", { n: left }) : "";
    if (unsaved()) keep();
    else keptAnswers.forget(item());
  }

  function keep({ submitted = false } = {}) {
    const answers = questions().map((question) => ({
      key: question.id.replace(/^question-/, ""),
      title: question.querySelector("legend bdi").textContent,
      value: chosen(question)?.value || "",
      label: chosen(question)?.closest("label").querySelector("bdi").textContent,
      comment: comment(question).value.trim(),
    }));
    return keptAnswers.keep(item(), answers, submitted);
  }

  function restore(kept) {
    for (const { key, value, comment: text } of kept.answers) {
      const question = document.getElementById(`question-${key}`);
      if (!question) continue;
      for (const radio of radios(question)) radio.checked = radio.value === value;
      comment(question).value = text;
      if (text) comment(question).closest("details").open = true;
    }
    if (unsaved()) autosaveSoon();
  }

  /* Submit what was submitted in vain before the page was closed, and leave a moment to see it. */
  function submitKept(kept) {
    clearTimeout(autosaveTimer);
    keep({ submitted: true });
    sentFrom = keptAnswers.moment(kept);
    wait(word("being-sent", { moment: sentFrom }), submitAgain, SEND_AGAIN_AFTER_MS[0]);
  }

  function changed() {
    sentFrom = "";
    update();
    if (again === submitAgain) trouble(word("changed"), [word("send"), submit]);
    autosaveSoon();
  }

  function autosaveSoon() {
    clearTimeout(autosaveTimer);
    if (!autosaved) autosaveTimer = setTimeout(saveDraft, AUTOSAVE_AFTER_MS);
  }

  async function saveDraft({ leaving = false } = {}) {
    clearTimeout(autosaveTimer);
    if (!item() || !unsaved() || (sending() && !leaving)) return;
    if (again === submitAgain) return; // a draft in its place would have to be submitted once more
    const form = item();
    const sent = questions().map((question) => [question.id, content(question)]);
    if (leaving && sentLast === JSON.stringify(sent)) return;
    sentLast = JSON.stringify(sent);
    autosaved = true;
    let failure = "";
    let away = "offline";
    let isSignedOut = false;
    try {
      const response = await fetch(form.dataset.draft, {
        method: "POST", body: new FormData(form), keepalive: leaving, redirect: "manual",
      });
      isSignedOut = response.type === "opaqueredirect";
      failure = response.status === 204 ? "" : await reason(response);
      away = UNAVAILABLE_STATUSES.includes(response.status) ? "unavailable" : "";
    } catch { /* no connection */ }
    if (form !== item()) return; // submitted meanwhile
    if (away) {
      sentLast = "";
      return sendAgain(away, saveDraft);
    }
    if (failure) {
      sentLast = "";
      if (isSignedOut) signedOut();
      else trouble(failure, [word("save-now"), saveDraft]);
      return;
    }
    for (const [id, was] of sent) acknowledged.set(id, was);
    attempts = 0;
    trouble("");
    update();
  }

  async function reason(response) {
    const isText = (response.headers.get("Content-Type") || "").startsWith("text/plain");
    return isText ? word("refused", { reason: await response.text() }) : word("draft-error", { status: response.status });
  }

  addEventListener("pagehide", () => saveDraft({ leaving: true }));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") saveDraft({ leaving: true });
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload(); // from the back button's cache: the stage may be locked by now
  });

  // ---- troubles

  function trouble(text, ...actions) {
    stopSendingAgain();
    const place = document.getElementById("trouble");
    place.replaceChildren();
    if (!text) return;
    const message = document.createElement("div");
    message.className = "message error";
    const words = document.createElement("p");
    words.textContent = text;
    message.append(words);
    for (const [label, act] of actions) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button compact";
      button.textContent = label;
      button.addEventListener("click", () => act());
      message.append(button);
    }
    place.append(message);
    place.scrollIntoView({ block: "nearest" });
  }

  const submitAgain = () => item().requestSubmit();
  const reload = () => location.reload();

  /* Sending the same answers twice stores them once, so nothing is lost by trying. */
  function sendAgain(why, send) {
    const where = keep({ submitted: send === submitAgain }) ? "kept-and-sent" : "here-and-sent";
    const afterMs = SEND_AGAIN_AFTER_MS[Math.min(attempts, SEND_AGAIN_AFTER_MS.length - 1)];
    wait(`${word(why)} ${word(where)}`, send, afterMs);
    attempts += 1;
  }

  function wait(why, send, ms) {
    trouble(why, [word("send-now"), send]);
    again = send;
    againTimer = setTimeout(send, ms);
  }

  function stopSendingAgain() {
    clearTimeout(againTimer);
    again = null;
  }

  addEventListener("online", () => again?.());

  function signedOut() {
    trouble(word("signed-out"), [word("sign-in"), reload]);
  }

  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.elt !== item()) return;
    clearTimeout(autosaveTimer); // what became of the submission is what must stay on the page
    stopSendingAgain();
  });

  document.addEventListener("htmx:sendError", ({ detail }) => {
    if (detail.elt === item()) sendAgain("offline", submitAgain);
    else trouble(word("action-offline"));
  });

  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.xhr.getResponseHeader("HX-Retarget")) {
      detail.shouldSwap = true; // a refusal with its reason, shown above the answers
      detail.isError = false;
      keep();
    } else if (new URL(detail.xhr.responseURL).pathname !== detail.pathInfo.finalRequestPath) {
      detail.shouldSwap = false; // sent on to the sign-in page
      signedOut();
    }
  });

  document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
    if (prepared && detail.xhr.getResponseHeader("HX-Redirect")) keptAnswers.forget(prepared); // the server has them
  });

  document.addEventListener("htmx:responseError", ({ detail }) => {
    if (UNAVAILABLE_STATUSES.includes(detail.xhr.status) && detail.elt === item()) sendAgain("unavailable", submitAgain);
    else if (detail.xhr.status === 403) trouble(word("out-of-date"), [word("reload"), reload]);
    else trouble(word("error", { status: detail.xhr.status }), [word("try-again"), submitAgain]);
  });

  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "trouble") return;
    trouble("");
    if (detail.target.id === "flag") {
      mark(marked() || questions()[0]);
    } else if (document.getElementById("contradictions")) {
      document.getElementById("contradictions").scrollIntoView({ block: "center" });
    } else if (!document.querySelector("#item .question.missing")) {
      scrollTo(0, 0);
    }
  });
  document.addEventListener("htmx:load", ({ detail }) => {
    if (detail.elt.id === "item") prepare();
  });

  // ---- which question is meant

  function mark(question, { focus = true, scroll = true } = {}) {
    for (const other of questions()) other.classList.toggle("current", other === question);
    if (!question) return;
    // The group rather than its first answer, lest a ring round "Yes" suggests it.
    if (focus) question.focus({ preventScroll: true });
    if (scroll) question.scrollIntoView({ block: "nearest" });
  }

  function answered(question) {
    question.classList.remove("missing");
    question.querySelector(".error").textContent = "";
    changed();
  }

  function moveOn(from) {
    const all = questions();
    const after = all.indexOf(from) + 1;
    const next = [...all.slice(after), ...all.slice(0, after)].find((question) => !chosen(question));
    mark(next || from);
  }

  function choose(question, radio) {
    if (!question || !radio) return;
    radio.checked = true;
    answered(question);
    moveOn(question);
  }

  function stepBack() {
    const all = questions();
    mark(all[Math.max(0, all.indexOf(marked()) - 1)]);
  }

  function submit() {
    const without = missing();
    if (!without.length) return item().requestSubmit(document.querySelector("#item .submit"));
    for (const question of without) {
      question.classList.add("missing");
      question.querySelector(".error").textContent = word("unanswered");
    }
    return mark(without[0]);
  }

  document.addEventListener("focusin", ({ target }) => {
    const question = target.closest("#item .question");
    if (question) mark(question, { focus: false, scroll: false });
  });

  let arrowed = false; // arrows walk through the answers of a group; only a decided answer moves on
  document.addEventListener("change", ({ target }) => {
    const question = target.closest("#item .question");
    if (!question || target.type !== "radio") return;
    answered(question);
    if (!arrowed) moveOn(question);
  });
  document.addEventListener("input", ({ target }) => {
    if (target.matches("#item .question textarea")) changed();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("#item .submit")) {
      event.preventDefault();
      event.stopPropagation();
      submit();
    } else if (event.target.closest("[data-keys]")) {
      document.getElementById("keys").showModal();
    }
    for (const open of document.querySelectorAll(".flag[open], .skip[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });

  // ---- keys

  function openWithText(details) {
    if (!details) return;
    details.open = true;
    details.querySelector("textarea").focus();
  }

  function scrollArticle(event) {
    const text = document.querySelector(".with-article .article .text");
    if (!text || text.scrollHeight <= text.clientHeight) return false; // the page scrolls
    const page = text.clientHeight * 0.85;
    const step = { " ": event.shiftKey ? -page : page, PageDown: page, PageUp: -page, ArrowDown: 64, ArrowUp: -64 }[event.key];
    if (step) text.scrollBy({ top: step });
    return Boolean(step);
  }

  function escape(target) {
    const details = target.closest("details");
    if (details && (details.matches(".flag, .skip") || !target.value)) details.open = false;
    mark(marked() || questions()[0]);
  }

  /* The letter of the key, also on a keyboard without Latin letters. */
  const letter = ({ key, code }) => (/^[a-z]$/i.test(key) ? key : code.replace(/^Key/, "")).toLowerCase();
  const digit = ({ key, code, shiftKey }) => (/^[1-9]$/.test(key) ? key : shiftKey ? "" : (/^Digit([1-9])$/.exec(code) || [])[1]);

  function command(event) {
    const question = marked();
    const number = digit(event);
    if (event.key === "?") return document.getElementById("keys").showModal();
    if (event.key === "Enter") return submit();
    if (event.key === "Backspace") return stepBack();
    if (number && question) {
      const choices = radios(question);
      return choose(question, choices.find((radio) => radio.value === number) || choices[number - 1]);
    }
    if (CHOICE_KEYS.includes(letter(event)) && question) return choose(question, radios(question)[CHOICE_KEYS.indexOf(letter(event))]);
    if (letter(event) === "c" && question) return openWithText(question.querySelector(".comment"));
    if (letter(event) === "f") return openWithText(document.getElementById("flag"));
    if (letter(event) === "u") return document.getElementById("undo")?.click();
    if (letter(event) === "g") return document.dispatchEvent(new Event("guidelines")); // guidelines.js opens them
    return false;
  }

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const radio = target.matches("input[type=radio]");
    arrowed = radio && key.startsWith("Arrow");
    if (!item() || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) {
      if (key === "?") document.getElementById("keys").close();
      if (letter(event) === "g") document.getElementById("guidelines").close();
      return;
    }
    if (key === "Escape" && target.closest("details")) return escape(target);
    if (target.matches("textarea, select, input:not([type=radio])")) return;
    if ((key === "Enter" || key === " ") && target.closest("button, a, summary")) return;
    if (key === " " && radio) return;
    if (!radio && !target.closest(".article .text") && scrollArticle(event)) return event.preventDefault();
    if (event.repeat || sending()) return; // a key held down must not answer the next question too
    if (command(event) !== false) event.preventDefault();
  });
  document.addEventListener("keyup", () => { arrowed = false; });

  document.documentElement.classList.add("has-keys");
  for (const button of document.querySelectorAll("[data-keys]")) button.hidden = false;
  prepare();
})();
