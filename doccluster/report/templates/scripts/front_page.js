"use strict";
// choose by words, outlet, language and day; say when in the reader's own time; mark what is new since the last visit
(() => {
  const items = [...document.querySelectorAll("[data-updated]")];
  const [words, outlet, language, day] = ["words", "outlet", "language", "day"].map((id) => document.getElementById(id));
  const root = document.documentElement;
  root.classList.add("js");
  const apply = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const told = item.dataset;
      const text = (told.words + " " + item.textContent).toLowerCase();
      item.hidden = !(asked.every((one) => text.includes(one))
        && (!outlet.value || told.outlets.split("|").includes(outlet.value))
        && (!language.value || told.language === language.value)
        && (!day.value || told.updated.startsWith(day.value)));
      shown += !item.hidden;
    }
    const isChosen = asked.length || outlet.value || language.value || day.value;
    for (const fold of document.querySelectorAll("details.fold")) fold.open = Boolean(isChosen) && fold.querySelector("[data-updated]:not([hidden])") !== null;
    for (const part of document.querySelectorAll("section.topic")) part.hidden = !part.querySelector("[data-updated]:not([hidden])");
    document.getElementById("found").textContent = isChosen ? shown + " of " + items.length + " stories" : "";
  };
  for (const one of [words, outlet, language, day]) one.addEventListener("input", apply);

  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const ago = new Intl.RelativeTimeFormat(root.lang, { numeric: "auto" });
  for (const time of document.querySelectorAll("time.ago")) {
    const when = new Date(time.dateTime);
    const seconds = (when - Date.now()) / 1000;
    const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) || units[2];
    if (Math.abs(seconds) < 14 * 86400) time.textContent = ago.format(Math.round(seconds / length), unit);
    time.title = when.toLocaleString();
  }

  try {
    const key = "doccluster-visit-" + root.dataset.name;
    const last = localStorage.getItem(key);
    if (last) for (const item of items) item.classList.toggle("fresh", item.dataset.updated > last);
    localStorage.setItem(key, root.dataset.moment);
  } catch { /* a browser that keeps nothing shows the page all the same */ }
})();
