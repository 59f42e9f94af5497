// the order of the stories; what has no value comes last
const stories = byId("story-list");
const cards = all(".story", stories);
const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
const inOrder = (a, b, sign, numeric) => {
  if (a === "" || b === "") return (a === "") - (b === "");
  return sign * (numeric ? Number(a) - Number(b) : collator.compare(a, b));
};
const order = byId("order");
order.addEventListener("change", () => {
  const sign = order.value.startsWith("-") ? -1 : 1;
  const key = order.value.replace(/^-/, "");
  const numeric = !["headline", "first", "last"].includes(key);
  const value = (card) => card.dataset[key];
  const sorted = [...cards].sort((a, b) => inOrder(value(a), value(b), sign, numeric) || a.dataset.number - b.dataset.number);
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
