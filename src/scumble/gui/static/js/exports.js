// Exports data sets and their reports.

import { catalogue, encode } from "./api.js";
import { h } from "./dom.js";
import { createAndSave } from "./downloads.js";

/** Export a data set, or its report, and save the file. */
export const exportAndSave = (dataset, options, status) => createAndSave(`/datasets/${encode(dataset.id)}/exports`, options, status);

/** Create the form that exports a data set in any format. */
export function exportForm(dataset) {
  const status = h("div", { role: "status" });
  const formatSelect = h("select", { "aria-label": "Format" });
  const compressionSelect = h("select", { "aria-label": "Compression" });
  catalogue().then(({ formats, compressions }) => {
    const preferred = ["mulan", "meka", "csv"];
    const order = [...formats].sort((a, b) => (preferred.indexOf(a.name) + 9) % 9 - (preferred.indexOf(b.name) + 9) % 9);
    formatSelect.append(...order.map((format) => h("option", { value: format.name }, format.title)));
    compressionSelect.append(...compressions.map((compression) => h("option", { value: compression }, compression || "not compressed")));
  }).catch(() => {});
  const submit = (event) => {
    event.preventDefault();
    exportAndSave(dataset, { kind: "data", format: formatSelect.value, compression: compressionSelect.value }, status);
  };
  return h("form", { class: "stack", onsubmit: submit }, h("div", { class: "row" }, formatSelect, compressionSelect, h("button", {}, "Download")), status);
}
