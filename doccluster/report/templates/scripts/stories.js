// the order of the stories; what has no value comes last
const stories = byId("story-list");
const cards = all(".story", stories);
const homes = cards.map((card) => card.parentElement);
const folds = all(".section, .further", stories);
const flat = document.createElement("ol");
stories.append(flat);
// what a link leads to is unfolded, a card with what it holds
const unfold = (target) => {
  const inside = target.classList.contains("story") ? [target.querySelector(".card-of")] : [];
  for (let fold = target; fold; fold = fold.parentElement && fold.parentElement.closest("details")) if (fold.tagName === "DETAILS") inside.push(fold);
  for (const fold of inside) fold.open = true;
};
addEventListener("beforeprint", () => folds.forEach((fold) => { fold.open = true; }));
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
  // another order than by size is one list, without sections
  if (order.value === "number") homes.forEach((home, index) => home.append(cards[index]));
  else flat.append(...sorted);
  folds.forEach((fold) => { fold.hidden = order.value !== "number"; });
});

// the search: every word has to occur, in the card with its titles or in the words of a document
const filter = byId("filter");
const found = byId("found");
let texts = null;
const read = () => cards.map((card) => ({
  card,
  place: readIndex().n + Number(card.dataset.number),
  whole: plain(card.textContent),
  head: plain(all("h3, .line .label, .leading .title, .terms th, .byline", card).map((part) => part.textContent).join("\n")),
  details: card.querySelector("details.all"),
  rows: all(".all tbody tr", card).map((row) => ({ row, place: Number(row.dataset.doc), text: plain(row.textContent) })),
}));
// each word with the places that hold it; one that nothing holds stands for the one that was probably meant
const wanted = (typed) => wordsOf(typed).map((word) => {
  const places = placesOf(word);
  const other = places.size || texts.some(({ whole }) => whole.includes(word)) ? "" : respelt(word);
  return other ? { word: other, typed: word, places: placesOf(other) } : { word, typed: word, places };
});
// opened by the search, and closed again after it
const opened = (details, open) => {
  if (open === Boolean(details.dataset.opened)) return;
  details.open = open;
  if (open) details.dataset.opened = "yes";
  else delete details.dataset.opened;
};
const apply = () => {
  texts = texts || read();
  const words = wanted(filter.value);
  const has = (text, place) => words.every(({ word, places }) => text.includes(word) || places.has(place));
  let shown = 0;
  for (const { card, place, whole, head, details, rows } of texts) {
    const hits = rows.map(({ text, place }) => words.length > 0 && has(text, place));
    const n = hits.filter(Boolean).length;
    const matches = n > 0 || has(whole, place);
    card.hidden = !matches;
    shown += matches;
    rows.forEach(({ row }, index) => row.classList.toggle("hit", hits[index]));
    // open the list where the documents are the only reason to show the card
    const open = n > 0 && !has(head, -1);
    opened(details, open);
    opened(card.querySelector(".card-of"), open || (words.length > 0 && matches && !n && !has(whole, -1)));
    card.classList.toggle("unlisted", words.length > 0 && matches && !n && !has(whole, -1));
  }
  for (const fold of folds) {
    const holds = fold.querySelector(".story:not([hidden])") !== null;
    fold.hidden = !holds || order.value !== "number";
    if (fold.classList.contains("further")) opened(fold, holds && words.length > 0);
  }
  const changed = words.filter(({ word, typed }) => word !== typed).map(({ word, typed }) => `“${word}” for “${typed}”`);
  found.textContent = words.length ? `${shown} of ${cards.length}${changed.length ? ", with " + changed.join(", ") : ""}` : "";
  byId("nothing").hidden = shown > 0;
  if (!shown) byId("nothing-said").textContent = `No story has ${words.length > 1 ? "all of these words" : "this word"}. Part of a word is enough, and fewer words find more. Looked at were headlines, terms, titles, outlets and ${readIndex().said}.`;
};
const reset = () => { filter.value = ""; apply(); };
let waiting = 0;
filter.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, cards.length > 50 ? 150 : 0); });
byId("clear").addEventListener("click", () => { reset(); filter.focus(); });
