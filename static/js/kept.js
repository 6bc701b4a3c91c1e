/* Answers that the server has not confirmed, kept in this browser until it has. Other people's are not touched. */
globalThis.keptAnswers = (() => {
  "use strict";

  const LONGEST_EXCERPT = 80; // characters of the summary, by which its rater recognises it

  const place = document.getElementById("kept");
  const prefix = `answers ${place.dataset.user} `;

  const keyOf = (form) => `${prefix}${form.getAttribute("action")}#${form.elements.stage.value}`;
  const summaryOf = (form) => shortened(form.querySelector(".summary .text").textContent.trim());
  const shortened = (text) => (text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}…` : text);

  /* A browser may have no storage, or no room left in it. */
  function stored(act) {
    try {
      return act(localStorage);
    } catch {
      return null;
    }
  }

  /* Return whether the answers, [{key, title, value, label, comment}], could be kept. */
  function keep(form, answers, submitted) {
    const kept = {
      draft: form.dataset.draft, stage: form.elements.stage.value, summary: summaryOf(form), at: Date.now(), submitted, answers,
    };
    return stored((storage) => {
      storage.setItem(keyOf(form), JSON.stringify(kept));
      return true;
    }) === true;
  }

  const read = (key) => stored((storage) => JSON.parse(storage.getItem(key)));
  const forget = (key) => stored((storage) => storage.removeItem(key));

  /* Return what is kept of this stage of this summary, or null. */
  function of(form) {
    const kept = read(keyOf(form));
    return kept && kept.summary === summaryOf(form) ? kept : null;
  }

  const { lang } = document.documentElement;
  const locale = lang === "en" ? "en-GB" : lang;
  const moment = (kept) => new Date(kept.at).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });

  function say(text) {
    const said = place.querySelector("[role=status]");
    said.replaceChildren();
    if (!text) return;
    const message = document.createElement("p");
    message.className = "message success";
    message.textContent = text;
    said.append(message);
  }

  // ---- answers to summaries that are no longer on the page

  async function send(key, kept) {
    const form = new FormData();
    form.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    form.set("stage", kept.stage);
    for (const { key: question, value, comment } of kept.answers) {
      form.set(`answer-${question}`, value);
      form.set(`comment-${question}`, comment);
    }
    const response = await fetch(kept.draft, { method: "POST", body: form, redirect: "manual" });
    const isRefused = (response.headers.get("Content-Type") || "").startsWith("text/plain");
    if (response.status === 204) {
      forget(key);
      say(word("saved", { moment: moment(kept) }));
    } else if (isRefused && response.status < 500) {
      show(key, kept, await response.text());
    } // else they wait for the next page that can send them
  }

  function show(key, kept, reason) {
    const entry = place.querySelector("template").content.firstElementChild.cloneNode(true);
    entry.dataset.key = key;
    entry.querySelector("time").textContent = moment(kept);
    entry.querySelector(".reason").textContent = reason;
    entry.querySelector("bdi").textContent = kept.summary;
    for (const { title, value, label, comment } of kept.answers) {
      if (!label && !comment) continue;
      const answer = document.createElement("li");
      answer.className = value;
      answer.textContent = [title, label, comment && `(${comment})`].filter(Boolean).join(" ");
      entry.querySelector("ul").append(answer);
    }
    entry.querySelector("button").addEventListener("click", () => {
      forget(key);
      entry.remove();
    });
    place.append(entry);
  }

  async function sendOthers() {
    const form = document.getElementById("item");
    const current = form && of(form) ? keyOf(form) : "";
    const mine = `${prefix}${place.dataset.project}`;
    const keys = stored((storage) => Object.keys(storage)) || [];
    const shown = [...place.querySelectorAll("[data-key]")].map((entry) => entry.dataset.key);
    for (const key of keys.filter((each) => each.startsWith(mine) && each !== current && !shown.includes(each))) {
      try {
        await send(key, read(key));
      } catch {
        return; // no connection: they stay where they are
      }
    }
  }

  addEventListener("online", sendOthers);
  sendOthers();

  return { keep, of, moment, say, forget: (form) => forget(keyOf(form)) };
})();
