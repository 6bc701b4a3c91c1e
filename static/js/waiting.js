/* Tells raters of answers that wait in this browser, as static/js/kept.js keeps them, until Rate sends them. */
(() => {
  "use strict";

  let keys = [];
  try {
    keys = Object.keys(localStorage);
  } catch {} // no storage, nothing in it
  for (const notice of document.querySelectorAll("[data-waiting]")) {
    notice.hidden = !keys.some((key) => key.startsWith(notice.dataset.waiting));
  }
})();
