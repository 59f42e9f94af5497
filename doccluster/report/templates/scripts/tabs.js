const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const language = "en";

// tabs: without this script the parts follow one another, and the links lead to them
const tabs = all("[data-tab]");
const panels = all("[data-panel]");
const list = tabs[0].parentElement;
list.setAttribute("role", "tablist");
for (const tab of tabs) {
  tab.setAttribute("role", "tab");
  tab.id = "tab-" + tab.dataset.tab;
  tab.setAttribute("aria-controls", tab.dataset.tab);
}
for (const panel of panels) {
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", "tab-" + panel.id);
}
const show = (name) => {
  for (const panel of panels) panel.hidden = panel.id !== name;
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
};
const follow = (focus) => {
  const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
  const target = byId(decodeURIComponent(name)) || panels[0];
  const panel = target.closest("[data-panel]") || panels[0];
  show(panel.id);
  if (panel.id === "explore") openExplore(query);
  if (target.classList.contains("story") && target.hidden) reset();
  if (target !== panel) unfold(target);
  if (target !== panel) target.scrollIntoView();
  else if (focus) list.scrollIntoView({ block: "nearest" });
  if (!focus) return;
  // keys go on from what a link leads to, also where it was hidden
  const stop = target.classList.contains("story") ? target.querySelector(".line") : target;
  if (stop === target && !target.hasAttribute("tabindex")) target.tabIndex = -1;
  stop.focus({ preventScroll: true });
};
for (const tab of tabs) {
  tab.addEventListener("click", (event) => {
    event.preventDefault();
    const opens = tab.dataset.tab === "explore";
    history.replaceState(null, "", "#" + (opens && explored ? explored.address() : tab.dataset.tab));
    show(tab.dataset.tab);
    if (opens && !explored) openExplore("");
    const bar = list.parentElement;
    if (bar.getBoundingClientRect().top <= 0) scrollTo({ top: bar.previousElementSibling.offsetHeight, behavior: "instant" });
  });
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
}
addEventListener("hashchange", () => follow(true));
