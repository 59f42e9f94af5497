// two clusters side by side: the mean weight of each term in both, and the difference that separates them
const showComparison = (data) => {
  const [a, b] = choice.compare;
  for (const [name, value] of [["a", a], ["b", b]]) byId("compare-" + name).value = value === undefined ? "" : String(value);
  if (a === undefined || b === undefined || a === b || !data.terms) { byId("compared").replaceChildren(); return; }
  const [own, other] = [data.terms.weighted[a], data.terms.weighted[b]];
  const weights = [...new Set([...own.keys(), ...other.keys()])].map((term) => ({ term, a: own.get(term) || 0, b: other.get(term) || 0 }));
  const named = (one) => data.terms.names[one.term];
  const apart = [...weights].sort((one, two) => Math.abs(two.a - two.b) - Math.abs(one.a - one.b)).slice(0, 24).sort((one, two) => two.a - two.b - (one.a - one.b));
  const shared = weights.filter((one) => one.a && one.b).sort((one, two) => two.a * two.b - one.a * one.b).slice(0, 8);
  const longest = Math.max(1e-9, ...apart.map((one) => Math.max(one.a, one.b)));
  const cell = (value) => make("td", { class: "number", text: value ? value.toFixed(3) : "–" });
  const bar = (value, kind) => make("td", { class: kind }, make("span", { class: "bar", style: `width:${(100 * value) / longest}%` }));
  const heads = [["a", a], ["b", b]].map(([kind, cluster]) => make("th", { scope: "col", colspan: 2, class: kind }, make("a", { href: "#cluster-" + cluster }, make("bdi", { text: `${cluster} ${labelOf(data, cluster)}` })), make("span", { class: "from", text: many(data.sizes[cluster], "document") })));
  const table = make("table", { class: "list butterfly" }, make("caption", { class: "unseen", text: `Terms that separate cluster ${a} from cluster ${b}, with their mean weights` }),
    make("thead", {}, make("tr", {}, heads[0], make("th", { scope: "col", text: "Term" }), heads[1])),
    make("tbody", {}, ...apart.map((one) => make("tr", {}, cell(one.a), bar(one.a, "a"), make("th", { scope: "row" }, make("bdi", { text: named(one) })), bar(one.b, "b"), cell(one.b)))));
  const note = make("p", { class: "rest", text: "The terms whose mean weights differ most, of the 40 heaviest of each cluster; – is a weight that is not among them. " });
  if (shared.length) note.append("Both have: " + shared.map(named).join(", ") + ".");
  byId("compared").replaceChildren(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What separates two clusters" }, table), note);
};
const fillComparison = (data, act) => {
  for (const name of ["a", "b"]) {
    const select = byId("compare-" + name);
    select.replaceChildren(make("option", { value: "", text: "…" }), ...data.labels.map((label, cluster) => make("option", { value: cluster, text: `${cluster} ${label}` })));
    select.addEventListener("change", () => act.compare([byId("compare-a").value, byId("compare-b").value].filter((value) => value !== "").map(Number)));
  }
};
