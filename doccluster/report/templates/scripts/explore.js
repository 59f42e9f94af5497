// the tab of linked views: made when it is first opened; whatever is chosen, all of them follow
let explored = null;
const explore = () => {
  if (explored) return explored;
  const data = readData();
  let mask = chosenDocuments(data);
  const canvas = byId("map");
  const act = {};
  const map = canvas && data.x ? makeMap(data, canvas, byId("tip"), act) : null;
  const count = (found) => found.reduce((sum, one) => sum + one, 0);

  const follow = () => {
    mask = chosenDocuments(data);
    const n = count(mask);
    const counts = countsByCluster(data, mask);
    const k = count(Array.from(counts, (one, cluster) => cluster < data.k && one > 0));
    const where = [(k || !counts[data.k]) && many(k, "cluster"), counts[data.k] && "Other"].filter(Boolean).join(" and ");
    const only = choice.clusters.size === 1 ? [...choice.clusters][0] : -1;
    byId("chosen").textContent = `${n.toLocaleString(language)} of ${many(data.n, "document")} in ${where}`;
    byId("chips").replaceChildren(...choiceWords(data).map(([kind, words]) => make("button", { type: "button", class: "small", "aria-label": `Do not limit to ${words}`, text: words + " ×", click: () => { dropChoice(kind); changed(); } })));
    if (map) map.show(mask);
    showClusters(data, counts);
    if (data.terms) { showTerms(data, choice.term ? chosenDocuments(data, "term") : mask, act); byId("lambda").value = choice.lambda; }
    if (data.days) showTimes(data, chosenDocuments(data, "time"), act);
    if (data.truths.length) showClasses(data, choice.truth >= 0 ? chosenDocuments(data, "class") : mask, act);
    showDocuments(data, mask, n);
    showComparison(data);
    if (canvas) byId("colour").value = choice.colour;
  };
  const changed = () => {
    history.replaceState(null, "", "#" + choiceText(data));
    follow();
  };
  Object.assign(act, {
    cluster: (cluster) => { if (!choice.clusters.delete(cluster)) choice.clusters.add(cluster); changed(); },
    term: (name) => { choice.term = choice.term === name ? "" : name; changed(); },
    time: (from, to) => { const same = choice.from === from && choice.to === to; choice.from = same ? "" : from; choice.to = same ? "" : to; changed(); },
    class: (truth, value) => { const same = choice.truth === truth && choice.value === value; choice.truth = same ? -1 : truth; choice.value = same ? -1 : value; changed(); },
    lasso: (corners) => { choice.lasso = corners; changed(); },
    compare: (clusters) => { choice.compare = clusters; changed(); },
  });

  byId("terms-box").hidden = !data.terms;
  byId("times-box").hidden = !data.days;
  byId("classes-box").hidden = !data.truths.length;
  byId("compare").hidden = !data.terms || data.labels.length < 2;
  if (data.days) for (const name of ["from", "to"]) {
    byId(name).min = data.first;
    byId(name).max = data.last;
    byId(name).addEventListener("change", () => act.time(byId("from").value, byId("to").value));
  }
  byId("lambda").addEventListener("input", () => { choice.lambda = Number(byId("lambda").value); changed(); });
  if (canvas) byId("colour").addEventListener("change", () => { choice.colour = byId("colour").value; changed(); });
  byId("unchoose").addEventListener("click", () => { ["clusters", "term", "time", "class", "lasso"].forEach(dropChoice); changed(); });
  byId("export").addEventListener("click", () => saveAs("chosen-documents.csv", csvOf(data, mask)));
  byId("cite").addEventListener("click", (event) => copyText(citeChoice(data, count(mask)), event.currentTarget));
  for (const row of all("#explore tr[data-cluster]")) {
    const cluster = Number(row.dataset.cluster);
    row.querySelector("th").append(" ", make("button", { type: "button", class: "small", "aria-pressed": "false", "aria-label": `Choose cluster ${cluster}`, text: "choose", click: () => act.cluster(cluster) }));
  }
  for (const node of all("#explore g[data-cluster]")) node.addEventListener("click", () => act.cluster(Number(node.dataset.cluster)));
  fillComparison(data, act);
  explored = { data, open: (text) => { readChoice(text, data); follow(); }, address: () => choiceText(data) };
  return explored;
};
const openExplore = (text) => explore().open(text);
