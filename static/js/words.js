/* What scripts say, in the page's language: templates/annotation/rating/_words.html has it. */
globalThis.word = (name, values = {}) => {
  const found = document.getElementById("words").content.querySelector(`[data-word="${name}"]`);
  return found.textContent.trim().replace(/\{(\w+)\}/g, (_, key) => values[key]);
};
