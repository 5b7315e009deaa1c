import { catalogue, encode, get } from "../api.js";
import { h, nameElement } from "../dom.js";
import { exportAndSave, exportForm } from "../exports.js";

const FORMS = {
  html: ["HTML", "A single file for any browser, suitable for printing."],
  pdf: ["PDF", "For printing and sharing."],
  json: ["JSON", "The same numbers, for programs."],
};

/** Render the page of reports and exports. */
export async function render(dataset) {
  const [{ reports }, { verdict }] = await Promise.all([catalogue(), get(`/datasets/${encode(dataset.id)}`)]);
  const status = h("div", { role: "status" });
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Report"), h("span", { class: "dim" }, "Save the results and the data as files.")),
    h("div", { class: "cols-2 even" },
      h("section", { class: "panel stack" }, h("h2", {}, "Concurrence report"),
        h("p", { class: "dim" }, "Imbalance and concurrence of the labels of ", nameElement(dataset.name), ", the difficult labels, and the frequent labels they co-occur with."),
        h("div", { class: "saves" }, reports.flatMap((format) => [h("button", { type: "button", onclick: () => exportAndSave(dataset, { kind: "report", format }, status) }, `Save ${FORMS[format][0]}`), h("span", { class: "dim" }, FORMS[format][1])])),
        status),
      h("section", { class: "panel stack" }, h("h2", {}, "The data"), h("p", { class: "dim" }, "In any format that scumble writes. Reading the file returns the same data, as far as the format can store it."), exportForm(dataset))),
    h("section", { class: "panel" }, h("h2", {}, "Summary"), h("div", { class: "verdict" }, verdict.map((sentence) => h("p", {}, sentence)))));
}
