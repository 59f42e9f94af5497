// what a reader takes away: the chosen documents as csv, a citation, the text of a document
const copyText = async (text, button) => {
  const before = button.dataset.words || button.textContent;
  button.dataset.words = before;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const box = byId("to-copy");
    box.querySelector("pre").textContent = text;
    box.showModal();
    getSelection().selectAllChildren(box.querySelector("pre"));
  }
  setTimeout(() => { button.textContent = before; }, 2000);
};
const citationOf = (known) => {
  const stop = (part) => (/[.!?…]$/.test(part) ? part : part + ".");
  return [known.title, [known.source, known.date].filter(Boolean).join(", "), known.link].filter(Boolean).map((part) => (part === known.link ? part : stop(part))).join(" ");
};
const citeChoice = (data, n) => {
  const run = byId("citation").textContent.trim();
  const words = choiceWords(data).map((pair) => pair[1]).join("; ");
  return `${run}${words ? ` Chosen: ${words}` : " All documents"}; ${many(n, "document")}. #${choiceText(data)}`;
};

// a cell that a spreadsheet would run begins with a quote, as in the tables of a run
const csvCell = (value) => {
  let text = String(value ?? "");
  if (/^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csvOf = (data, mask) => {
  const lines = [["row", "id", "title", "date", "source", "link", "cluster", "label", "similarity", ...data.truths.map((truth) => truth.name)]];
  for (let doc = 0; doc < data.n; doc++) {
    if (!mask[doc]) continue;
    const known = named(doc) || { id: "", title: "", source: "", link: "", similarity: "" };
    const cluster = data.clusters[doc];
    lines.push([data.rows[doc] + 1, known.id, known.title, data.days && data.days[doc] ? dayText(data, data.days[doc]).slice(0, data.letters) : "", known.source, known.link, cluster, labelOf(data, cluster), known.similarity, ...data.truths.map((truth) => (truth.codes[doc] ? truth.values[truth.codes[doc] - 1] : ""))]);
  }
  return lines.map((line) => line.map(csvCell).join(",") + "\n").join("");
};
const saveAs = (name, text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

const openText = (doc) => {
  const from = byId("text-" + doc);
  const box = byId("reading");
  box.querySelector("h3").textContent = from.querySelector("h4").textContent;
  box.querySelector("pre").textContent = from.querySelector("pre").textContent;
  box.showModal();
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.read");
  if (!link) return;
  event.preventDefault();
  openText(Number(link.hash.slice("#text-".length)));
});
