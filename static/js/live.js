// Keeps "latest 2 s ago" true between two changes, and shows when the page is no longer reached by news.
(() => {
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const firstSeen = new WeakMap();

  const tellAges = () => {
    for (const time of document.querySelectorAll("time[data-age]")) {
      if (!firstSeen.has(time)) firstSeen.set(time, performance.now());
      const seconds = Number(time.dataset.age) + Math.floor((performance.now() - firstSeen.get(time)) / 1000);
      const [length, unit] = units.find(([length]) => seconds >= length) ?? [1, "s"];
      time.textContent = `${Math.floor(seconds / length)} ${unit}`;
    }
  };
  setInterval(tellAges, 1000);

  // A menu that is open stays open when the part of the page around it is replaced.
  const opened = new WeakMap();
  document.body.addEventListener("htmx:oobBeforeSwap", ({ detail: { target } }) => {
    opened.set(target, [...target.querySelectorAll("details[id][open]")].map(({ id }) => id));
  });
  document.body.addEventListener("htmx:oobAfterSwap", ({ detail: { target } }) => {
    for (const id of opened.get(target) ?? []) target.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
  });

  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    document.getElementById("status")?.classList.toggle("unreached", !detail.successful);
    const answeredAt = detail.xhr.responseURL && new URL(detail.xhr.responseURL).pathname;
    if (answeredAt && answeredAt !== location.pathname) location.reload(); // signed out: the page says so
  });
})();
