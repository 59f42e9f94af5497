"use strict";
(() => {
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
    const target = byId(decodeURIComponent(location.hash.slice(1))) || panels[0];
    const panel = target.closest("[data-panel]") || panels[0];
    show(panel.id);
    if (target.classList.contains("story") && target.hidden) reset();
    if (target !== panel) target.scrollIntoView();
    else if (focus) list.scrollIntoView({ block: "nearest" });
  };
  for (const tab of tabs) {
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", "#" + tab.dataset.tab);
      show(tab.dataset.tab);
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

  // the order of the stories; what has no value comes last
  const stories = byId("story-list");
  const cards = all(".story", stories);
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
  const compare = (a, b, sign, numeric) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (numeric ? Number(a) - Number(b) : collator.compare(a, b));
  };
  const order = byId("order");
  order.addEventListener("change", () => {
    const sign = order.value.startsWith("-") ? -1 : 1;
    const key = order.value.replace(/^-/, "");
    const numeric = !["headline", "first", "last"].includes(key);
    const value = (card) => card.dataset[key];
    const sorted = [...cards].sort((a, b) => compare(value(a), value(b), sign, numeric) || a.dataset.number - b.dataset.number);
    stories.append(...sorted);
  });

  // the filter: every word has to occur, in the card or in one of its documents
  const filter = byId("filter");
  const found = byId("found");
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  let texts = null;
  const read = () => cards.map((card) => ({
    card,
    whole: plain(card.textContent),
    head: plain(all("h3, .label, .leading .title, .terms th, .byline", card).map((part) => part.textContent).join("\n")),
    details: card.querySelector("details.all"),
    rows: all(".all tbody tr", card).map((row) => ({ row, text: plain(row.textContent) })),
  }));
  const apply = () => {
    texts = texts || read();
    const words = plain(filter.value).split(/\s+/).filter(Boolean);
    const has = (text) => words.every((word) => text.includes(word));
    let shown = 0;
    for (const { card, whole, head, details, rows } of texts) {
      const matches = has(whole);
      card.hidden = !matches;
      shown += matches;
      let hits = 0;
      for (const { row, text } of rows) {
        const hit = words.length > 0 && matches && has(text);
        row.classList.toggle("hit", hit);
        hits += hit;
      }
      // open the list where the documents are the only reason to show the card
      const wanted = hits > 0 && !has(head);
      if (wanted !== Boolean(details.dataset.opened)) {
        details.open = wanted;
        if (wanted) details.dataset.opened = "yes";
        else delete details.dataset.opened;
      }
    }
    found.textContent = words.length ? `${shown} of ${cards.length}` : "";
    byId("nothing").hidden = shown > 0;
  };
  const reset = () => { filter.value = ""; apply(); };
  let waiting = 0;
  filter.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, cards.length > 100 ? 150 : 0); });
  byId("clear").addEventListener("click", () => { reset(); filter.focus(); });

  // tables: the heads of columns become buttons
  const sortTable = (table, head, column) => {
    const numeric = head.dataset.kind === "number";
    const before = head.getAttribute("aria-sort");
    const sign = before ? (before === "ascending" ? -1 : 1) : numeric ? -1 : 1;
    for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const body = table.tBodies[0];
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    const keyed = [...body.rows].map((row) => [value(row), row]);
    keyed.sort((a, b) => compare(a[0], b[0], sign, numeric));
    body.append(...keyed.map((pair) => pair[1]));
  };
  const prepare = (table) => {
    all("thead th", table).forEach((head, column) => {
      if (!head.dataset.kind) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortTable(table, head, column));
    });
  };
  all("table[data-sortable]").forEach(prepare);

  // what can be scrolled sideways fades out where there is more
  const fade = (box) => box.classList.toggle("more-beside", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => fade(entry.target)));
  for (const box of all(".scroll")) {
    watch.observe(box);
    box.addEventListener("scroll", () => fade(box), { passive: true });
  }

  const copy = byId("copy");
  if (copy) copy.addEventListener("click", async () => {
    const text = byId(copy.dataset.copies).textContent;
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId(copy.dataset.copies));
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  });

  follow(false);
})();
