// what the page counts, unpacked when the tab is first opened; documents are numbered cluster by cluster
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const unpacked = ({ width, data }) => {
  const bytes = bytesOf(data);
  const values = new Uint32Array(bytes.length / width);
  for (let i = 0; i < values.length; i++) for (let b = width - 1; b >= 0; b--) values[i] = values[i] * 256 + bytes[i * width + b];
  return values;
};
const unpackedGaps = (text) => {
  const bytes = bytesOf(text);
  const values = [];
  for (let i = 0; i < bytes.length; ) {
    let value = 0, shift = 0;
    do { value |= (bytes[i] & 127) << shift; shift += 7; } while (bytes[i++] & 128);
    values.push(value);
  }
  return values;
};

const readTerms = (given) => {
  const counts = unpacked(given.counts);
  const gaps = unpackedGaps(given.gaps);
  const starts = new Uint32Array(counts.length + 1);
  const documents = new Uint32Array(gaps.length);
  counts.forEach((count, term) => { starts[term + 1] = starts[term] + count; });
  for (let term = 0; term < counts.length; term++) {
    for (let i = starts[term], at = 0; i < starts[term + 1]; i++) documents[i] = at += gaps[i];
  }
  const ids = unpacked(given.ids), weights = unpacked(given.weights);
  let next = 0;
  const weighted = [...unpacked(given.weighted)].map((n) => {
    const own = new Map();
    for (const end = next + n; next < end; next++) own.set(ids[next], weights[next] * given.step);
    return own;
  });
  return { names: given.names, counts, starts, documents, weighted };
};

const readData = () => {
  const given = JSON.parse(byId("page-data").textContent);
  const clusters = new Uint32Array(given.n);
  const firsts = [0];
  given.sizes.forEach((size, cluster) => {
    clusters.fill(cluster, firsts[cluster], firsts[cluster] + size);
    firsts.push(firsts[cluster] + size);
  });
  const truths = given.truths.map((one) => ({ name: one.name, values: one.values, codes: unpacked(one.codes) }));
  return {
    n: given.n, k: given.k, sizes: given.sizes, labels: given.labels, medoids: given.medoids, sections: given.sections,
    clusters, firsts, truths, rows: unpacked(given.rows),
    x: given.map && unpacked(given.map.x), y: given.map && unpacked(given.map.y), grid: given.map && given.map.grid,
    days: given.dates && unpacked(given.dates.days), first: given.dates && given.dates.first, last: given.dates && given.dates.last,
    letters: given.dates && given.dates.letters, begins: given.dates && given.dates.begins,
    terms: given.terms && readTerms(given.terms),
  };
};

const DAY = 86400000;
const dayText = (data, day) => new Date(Date.parse(data.first) + (day - 1) * DAY).toISOString().slice(0, 10);
const dayNumber = (data, text) => Math.round((Date.parse(text) - Date.parse(data.first)) / DAY) + 1;
const labelOf = (data, cluster) => data.labels[cluster] || `cluster ${cluster}`;

// the names of documents stand in the lists of the stories; long runs list only the most typical ones
let listed = null;
const listedRows = () => listed || (listed = new Map(all("tr[data-doc]").map((row) => [Number(row.dataset.doc), row])));
const named = (doc) => {
  const row = listedRows().get(doc);
  if (!row) return null;
  const link = row.querySelector("th a:not(.read)");
  return {
    title: row.querySelector("th bdi").textContent, id: row.dataset.id, similarity: row.querySelector("td.number").dataset.value, link: link ? link.href : "",
    source: row.querySelector(".from") ? row.querySelector(".from").textContent : "",
    date: row.querySelector("time") ? row.querySelector("time").textContent : "",
    iso: row.querySelector("time") ? row.querySelector("time").getAttribute("datetime") : "",
  };
};
