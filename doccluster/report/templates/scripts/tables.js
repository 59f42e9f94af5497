// tables: the heads of columns become buttons
const sortTable = (table, head, column) => {
  const numeric = head.dataset.kind === "number";
  const before = head.getAttribute("aria-sort");
  const sign = before ? (before === "ascending" ? -1 : 1) : numeric ? -1 : 1;
  for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const body = table.tBodies[0];
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].querySelector("time")?.dateTime ?? row.cells[column].textContent.trim();
  const keyed = [...body.rows].map((row) => [value(row), row]);
  keyed.sort((a, b) => inOrder(a[0], b[0], sign, numeric));
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
