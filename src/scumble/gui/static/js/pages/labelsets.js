import { encode } from "../api.js";
import { bars } from "../label_charts.js";
import { h, nameElement } from "../dom.js";
import { fixed, int } from "../format.js";
import { meter, PagedTable } from "../table.js";

/** Render the table of labelsets. */
export async function render(dataset) {
  const table = new PagedTable({
    path: `/datasets/${encode(dataset.id)}/labelsets`,
    caption: "Labelsets",
    noun: "labelset",
    searchTitle: "Search labels in labelsets",
    picture: (rows) => bars({ title: "Labelsets by count", rows: rows.map((row) => ({ name: row.labels.join(", ") || "no label", value: row.count })) }),
    columns: [
      { key: "rank", title: "Rank", render: (row) => int(row.rank) },
      { key: "labels", title: "Labelset", text: true, head: true, sort: false, render: labels },
      { key: "size", title: "Labels", render: (row) => int(row.size) },
      { key: "count", title: "Count", render: (row) => int(row.count) },
      { key: "imbalance", title: "Imbalance", hide: true, help: "How many times rarer the labelset is than the most frequent labelset.", render: (row) => fixed(row.imbalance, 2) },
      { key: "scumble", title: "SCUMBLE", hide: true, help: "How much the frequencies of the labels in the set differ: 0 if all are equally frequent.", render: (row) => meter(fixed(row.scumble, 4), row.scumble) },
    ],
  });
  await table.load();
  return h("div", {}, h("div", { class: "head" }, h("h1", {}, "Labelsets"), h("span", { class: "dim" }, "Distinct combinations of labels, including the empty one.")), table.element);
}

/** Show the labels of a labelset. */
function labels(row) {
  if (!row.size) return h("span", { class: "dim" }, "no label");
  const nHidden = row.size - row.labels.length;
  return h("span", { class: "tags" }, row.labels.map((label) => h("span", {}, nameElement(label))), nHidden ? h("span", { class: "dim" }, `and ${int(nHidden)} more`) : null);
}
