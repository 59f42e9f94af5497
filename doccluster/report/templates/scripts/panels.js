// what follows the choice: terms, times, classes, clusters and documents
const make = (tag, given = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name === "text") node.textContent = value;
    else if (name === "click") node.addEventListener("click", value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};
const many = (n, one) => `${n.toLocaleString(language)} ${one}${n === 1 ? "" : "s"}`;

// with nothing chosen: saliency (Chuang, Manning & Heer 2012), how frequent a term is and how much it says of the cluster
const salientTerms = (data, most) => {
  const { names, counts, starts, documents } = data.terms;
  const found = names.map((_, term) => {
    const own = new Map();
    for (let i = starts[term]; i < starts[term + 1]; i++) own.set(data.clusters[documents[i]], (own.get(data.clusters[documents[i]]) || 0) + 1);
    let told = 0;
    for (const [cluster, n] of own) told += n * Math.log((n / counts[term]) / (data.sizes[cluster] / data.n));
    return { term, n: counts[term], all: counts[term], saliency: told };
  });
  return found.sort((a, b) => b.saliency - a.saliency || a.term - b.term).slice(0, most);
};

// relevance (Sievert & Shirley 2014, equation 1), of the shares of documents: λ log p(term | chosen) + (1 - λ) log lift
const relevantTerms = (data, mask, most) => {
  const { names, counts, starts, documents } = data.terms;
  if (mask.every(Boolean)) return salientTerms(data, most);
  const total = documents.length;
  const inside = counts.map(() => 0);
  let all = 0;
  for (let term = 0; term < names.length; term++) {
    for (let i = starts[term]; i < starts[term + 1]; i++) inside[term] += mask[documents[i]];
    all += inside[term];
  }
  const found = [];
  for (let term = 0; term < names.length; term++) {
    if (!inside[term]) continue;
    const share = inside[term] / all;
    found.push({ term, n: inside[term], all: counts[term], relevance: choice.lambda * Math.log(share) + (1 - choice.lambda) * Math.log(share / (counts[term] / total)) });
  }
  return found.sort((a, b) => b.relevance - a.relevance || b.n - a.n || a.term - b.term).slice(0, most);
};
const showTerms = (data, mask, act) => {
  const isAll = mask.every(Boolean);
  const found = relevantTerms(data, mask, 25);
  const longest = Math.max(1, ...found.map((one) => one.all));
  byId("term-bars").replaceChildren(...found.map((one) => {
    const name = data.terms.names[one.term];
    const bar = make("span", { class: "twofold", "aria-hidden": "true" }, make("span", { class: "bar", style: `width:${(100 * one.all) / longest}%` }), make("span", { class: "bar inner", style: `width:${(100 * one.n) / longest}%` }));
    return make("li", {}, make("button", { type: "button", "aria-pressed": String(name === choice.term), click: () => act.term(name) }, make("bdi", { text: name })), bar, make("span", { class: "count", text: one.n.toLocaleString(language) + (isAll ? "" : ` of ${one.all.toLocaleString(language)}`) }));
  }));
  byId("terms-note").textContent = "How many documents have the term" + (isAll ? "." : ": dark the chosen ones, light all.");
};

const showTimes = (data, mask, act) => {
  const n = data.begins.length;
  const all = new Array(n).fill(0), own = new Array(n).fill(0);
  for (let doc = 0; doc < data.n; doc++) {
    if (!data.days[doc]) continue;
    let bin = n - 1;
    while (bin && data.begins[bin] > data.days[doc]) bin--;
    all[bin]++;
    own[bin] += mask[doc];
  }
  const most = Math.max(...all);
  const edges = (bin) => [Math.max(1, data.begins[bin]), bin + 1 < n ? data.begins[bin + 1] - 1 : dayNumber(data, data.last)];
  byId("times").replaceChildren(...all.map((count, bin) => {
    const [first, last] = edges(bin).map((day) => dayText(data, day));
    const [from, to] = [first, last].map((text) => text.slice(0, data.letters));
    const said = `${from === to ? from : from + " to " + to}: ${own[bin]} of ${many(count, "document")}`;
    return make("button", { type: "button", title: said, "aria-label": said, click: () => act.time(first, last) }, make("span", { style: `height:${(100 * count) / most}%` }, make("span", { style: `height:${count ? (100 * own[bin]) / count : 0}%` })));
  }));
  byId("from").value = choice.from;
  byId("to").value = choice.to;
};

const showClasses = (data, mask, act) => {
  byId("classes").replaceChildren(...data.truths.map((truth, index) => {
    const own = truth.values.map(() => 0), all = truth.values.map(() => 0);
    for (let doc = 0; doc < data.n; doc++) if (truth.codes[doc]) { all[truth.codes[doc] - 1]++; own[truth.codes[doc] - 1] += mask[doc]; }
    const order = own.map((_, value) => value).sort((a, b) => own[b] - own[a] || all[b] - all[a]).filter((value) => own[value]).slice(0, 12);
    const longest = Math.max(1, ...order.map((value) => all[value]));
    return make("div", {}, make("h4", {}, make("bdi", { text: truth.name })), make("ol", { class: "bars" }, ...order.map((value) => make("li", {},
      make("button", { type: "button", "aria-pressed": String(choice.truth === index && choice.value === value), click: () => act.class(index, value) }, make("bdi", { text: truth.values[value] })),
      make("span", { class: "twofold", "aria-hidden": "true" }, make("span", { class: "bar", style: `width:${(100 * all[value]) / longest}%` }), make("span", { class: "bar inner", style: `width:${(100 * own[value]) / longest}%` })),
      make("span", { class: "count", text: `${own[value].toLocaleString(language)} of ${all[value].toLocaleString(language)}` })))));
  }));
};

const countsByCluster = (data, mask) => {
  const counts = new Uint32Array(data.sizes.length);
  for (let doc = 0; doc < data.n; doc++) counts[data.clusters[doc]] += mask[doc];
  return counts;
};
const showClusters = (data, counts) => {
  for (const node of all("#explore [data-cluster]")) {
    const cluster = Number(node.dataset.cluster);
    const isChosen = choice.clusters.has(cluster);
    if (node.tagName === "TR") {
      const cell = node.querySelector(".count");
      cell.textContent = counts[cluster].toLocaleString(language);
      cell.dataset.value = counts[cluster];
      node.querySelector("button").setAttribute("aria-pressed", String(isChosen));
      node.classList.toggle("hit", isChosen);
    } else {
      node.classList.toggle("hit", isChosen);
      node.style.setProperty("--share", counts[cluster] / data.sizes[cluster]);
    }
  }
};

const MOST_SHOWN = 40;
const showDocuments = (data, mask, n) => {
  const shown = [];
  for (let doc = 0; doc < data.n && shown.length < MOST_SHOWN; doc++) {
    if (!mask[doc]) continue;
    const known = named(doc);
    if (!known) continue;
    const title = make("bdi", { text: known.title });
    const line = make("li", {}, make("p", { class: "title" }, known.link ? make("a", { href: known.link, rel: "noopener noreferrer nofollow" }, title) : title));
    const meta = make("p", { class: "meta", text: [known.source, known.date].filter(Boolean).join(" · ") + " " }, make("a", { href: "#cluster-" + data.clusters[doc], text: `${data.clusters[doc]} ${labelOf(data, data.clusters[doc])}` }));
    if (byId("text-" + doc)) meta.append(" ", make("button", { type: "button", class: "small", text: "Read", click: () => openText(doc) }));
    meta.append(" ", make("button", { type: "button", class: "small", text: "Cite", "aria-label": `Cite ${known.title}`, click: (event) => copyText(citationOf(known), event.currentTarget) }));
    line.append(meta);
    shown.push(line);
  }
  byId("chosen-documents").replaceChildren(...shown);
  const some = `The ${shown.length.toLocaleString(language)} shown of ${n.toLocaleString(language)}`;
  byId("documents-note").textContent = n && !shown.length ? "This page lists none of them; assignments.csv has all." : shown.length < n ? (listedRows().size < data.n ? `${some} are among the most typical of their clusters, which this page lists; assignments.csv has all.` : `${some} are the most typical; export all of them as csv.`) : n ? "" : "No document meets all that is chosen.";
};
