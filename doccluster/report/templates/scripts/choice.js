// what is chosen: clusters, a term, a span of days, a class, a lasso; kept in the address, so that a link says it all
const emptyChoice = () => ({ clusters: new Set(), term: "", from: "", to: "", truth: -1, value: -1, lasso: [], colour: "cluster", lambda: 0.6, compare: [] });
const choice = emptyChoice();

const numbers = (text) => text.split(",").filter((part) => /^\d+$/.test(part)).map(Number);
const aDay = (text) => (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "");

const readChoice = (text, data) => {
  const given = new URLSearchParams(text);
  const get = (name) => given.get(name) || "";
  Object.assign(choice, emptyChoice());
  choice.clusters = new Set(numbers(get("cluster")).filter((cluster) => cluster < data.sizes.length));
  choice.term = data.terms && data.terms.names.includes(get("term")) ? get("term") : "";
  choice.from = data.days ? aDay(get("from")) : "";
  choice.to = data.days ? aDay(get("to")) : "";
  data.truths.forEach((truth, index) => {
    const value = truth.values.indexOf(get("class." + truth.name));
    if (value >= 0) { choice.truth = index; choice.value = value; }
  });
  const corners = numbers(get("lasso"));
  for (let i = 0; data.x && i + 1 < corners.length; i += 2) choice.lasso.push([corners[i], corners[i + 1]]);
  const colours = ["cluster", ...(data.days ? ["date"] : []), ...data.truths.map((_, index) => "truth-" + index)];
  choice.colour = colours.includes(get("colour")) ? get("colour") : "cluster";
  const lambda = Number(given.get("lambda") ?? 0.6);
  choice.lambda = lambda >= 0 && lambda <= 1 ? lambda : 0.6;
  choice.compare = numbers(get("compare")).filter((cluster) => cluster < data.labels.length).slice(0, 2);
};

const choiceText = (data) => {
  const given = new URLSearchParams();
  if (choice.clusters.size) given.set("cluster", [...choice.clusters].join(","));
  if (choice.term) given.set("term", choice.term);
  if (choice.from) given.set("from", choice.from);
  if (choice.to) given.set("to", choice.to);
  if (choice.truth >= 0) given.set("class." + data.truths[choice.truth].name, data.truths[choice.truth].values[choice.value]);
  if (choice.lasso.length) given.set("lasso", choice.lasso.flat().join(","));
  if (choice.colour !== "cluster") given.set("colour", choice.colour);
  if (choice.lambda !== 0.6) given.set("lambda", choice.lambda);
  if (choice.compare.length) given.set("compare", choice.compare.join(","));
  const text = given.toString();
  return "explore" + (text ? "?" + text : "");
};

const inside = (x, y, corners) => {
  let odd = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const [ax, ay] = corners[i], [bx, by] = corners[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
};

// 1 for each document that meets all that is chosen; `without` leaves one kind of choice open
const chosenDocuments = (data, without = "") => {
  const mask = new Uint8Array(data.n).fill(1);
  const keep = (kind, wanted, test) => {
    if (!wanted || kind === without) return;
    for (let doc = 0; doc < data.n; doc++) if (mask[doc] && !test(doc)) mask[doc] = 0;
  };
  keep("cluster", choice.clusters.size, (doc) => choice.clusters.has(data.clusters[doc]));
  if (choice.term && without !== "term") {
    const term = data.terms.names.indexOf(choice.term);
    const having = new Uint8Array(data.n);
    for (let i = data.terms.starts[term]; i < data.terms.starts[term + 1]; i++) having[data.terms.documents[i]] = 1;
    keep("term", true, (doc) => having[doc]);
  }
  if (choice.from || choice.to) {
    const low = choice.from ? dayNumber(data, choice.from) : 1, high = choice.to ? dayNumber(data, choice.to) : Infinity;
    keep("time", true, (doc) => data.days[doc] > 0 && data.days[doc] >= low && data.days[doc] <= high);
  }
  keep("class", choice.truth >= 0, (doc) => data.truths[choice.truth].codes[doc] === choice.value + 1);
  keep("lasso", choice.lasso.length > 2, (doc) => inside(data.x[doc], data.y[doc], choice.lasso));
  return mask;
};

const choiceWords = (data) => {
  const words = [];
  if (choice.clusters.size) words.push(["clusters", (choice.clusters.size === 1 ? "cluster " : "clusters ") + [...choice.clusters].map((one) => `${one} (${labelOf(data, one)})`).join(", ")]);
  if (choice.term) words.push(["term", `term “${choice.term}”`]);
  if (choice.from || choice.to) words.push(["time", `${choice.from || data.first} to ${choice.to || data.last}`]);
  if (choice.truth >= 0) words.push(["class", `${data.truths[choice.truth].name} ${data.truths[choice.truth].values[choice.value]}`]);
  if (choice.lasso.length > 2) words.push(["lasso", "a part of the map"]);
  return words;
};
const dropChoice = (kind) => {
  if (kind === "clusters") choice.clusters.clear();
  if (kind === "term") choice.term = "";
  if (kind === "time") choice.from = choice.to = "";
  if (kind === "class") choice.truth = choice.value = -1;
  if (kind === "lasso") choice.lasso = [];
};
