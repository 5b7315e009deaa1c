import { encode } from "../api.js";
import { bars } from "../label_charts.js";
import { h, nameElement } from "../dom.js";
import { fixed, int } from "../format.js";
import { meter, PagedTable } from "../table.js";

/** Render the table of labels. */
export async function render(dataset) {
  const table = new PagedTable({
    path: `/datasets/${encode(dataset.id)}/labels`,
    caption: "Labels with their measures",
    noun: "label",
    searchTitle: "Search labels",
    columns: [
      { key: "name", title: "Label", text: true, head: true, render: (row) => h("a", { href: `/d/${dataset.id}/concurrence?label=${row.label}`, class: "plain" }, nameElement(row.name)) },
      { key: "count", title: "Count", help: "Instances that have the label.", render: (row) => int(row.count) },
      { key: "frequency", title: "Frequency", hide: true, help: "Count divided by the number of instances.", render: (row) => fixed(row.frequency, 4) },
      { key: "irlbl", title: "IRLbl", help: "How many times rarer the label is than the most frequent label.", render: (row) => fixed(row.irlbl, 2) },
      { key: "scumble", title: "SCUMBLE", help: "The mean SCUMBLE of the instances that have the label. A rare label with a high value mostly occurs together with frequent labels.", render: (row) => meter(fixed(row.scumble, 4), row.scumble) },
      { key: "scumble_cv", title: "CV", hide: true, help: "How much SCUMBLE differs between those instances: standard deviation divided by mean.", render: (row) => fixed(row.scumble_cv, 4) },
      { key: "label", title: "Position", hide: true, render: (row) => int(row.label) },
    ],
    picture: (rows) => bars({ title: "Labels by count", rows: rows.map((row) => ({ name: row.name, value: row.count, isRare: row.is_minority })) }),
    decorate: (element, row) => element.classList.toggle("is-rare", row.is_minority),
  });
  await table.load();
  return h("div", {}, h("div", { class: "head" }, h("h1", {}, "Labels"), h("span", { class: "dim" }, "Coloured labels are rarer than average (IRLbl above MeanIR).")), table.element);
}
