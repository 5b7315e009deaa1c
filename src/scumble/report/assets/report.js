
// The scripts of a report: draw the chord diagrams and sort the tables.

// Parse the layout that is stored in the page.
const layoutOf = (id) => JSON.parse(document.getElementById(id).textContent);
const like = layoutOf("chord-0"); // a label has one colour before and after
for (const figure of document.querySelectorAll("figure[data-chord]")) {
  drawChord(figure.querySelector("svg"), layoutOf(figure.dataset.chord), { like });
  fitChord(figure.querySelector("svg"));
  figure.scrollLeft = (figure.scrollWidth - figure.clientWidth) / 2; // centre the diagram if it is wider than the screen
}

// Return the value by which a cell is sorted.
function valueOf(row, column) {
  const cell = row.cells[column];
  const raw = cell.dataset.value;
  if (raw === undefined) return cell.textContent.trim();
  return raw === "" ? -Infinity : Number(raw);
}

// Sort the rows of a table by a column.
function sortBy(table, column, direction) {
  const rows = Array.from(table.tBodies[0].rows, (row) => [valueOf(row, column), row]);
  const compare = ([a], [b]) =>
    typeof a === "number" ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b, "en", { numeric: true });
  rows.sort((left, right) => direction * compare(left, right));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    if (head.classList.contains("bar")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers start with the largest, names with the first.
      const numeric = table.tBodies[0].rows[0]?.cells[column].dataset.value !== undefined;
      const current = head.getAttribute("aria-sort");
      const next = current === null ? (numeric ? "descending" : "ascending")
        : current === "descending" ? "ascending" : "descending";
      for (const item of heads) item.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", next);
      sortBy(table, column, next === "ascending" ? 1 : -1);
    });
  });
}
