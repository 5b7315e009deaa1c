import { catalogue, get, part } from "../api.js";
import { h, name } from "../dom.js";
import { dataDownload, makeAndSave } from "../downloads.js";

const FORMS = {
  html: ["HTML", "One file with everything in it; opens in any browser, prints well."],
  pdf: ["PDF", "For print and for sending."],
  json: ["JSON", "The same numbers for a program."],
};

export async function render(dataset) {
  const [{ reports }, { verdict }] = await Promise.all([catalogue(), get(`/datasets/${part(dataset.id)}`)]);
  const told = h("div", { role: "status" });
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Report"), h("span", { class: "dim" }, "Everything worth keeping, as files.")),
    h("div", { class: "cols-2 even" },
      h("section", { class: "panel stack" }, h("h2", {}, "Concurrence report"),
        h("p", { class: "dim" }, "How imbalanced the labels of ", name(dataset.name), " are, how concurrent, which are difficult and what masks them."),
        h("div", { class: "saves" }, reports.flatMap((form) => [h("button", { type: "button", onclick: () => makeAndSave(dataset, { kind: "report", format: form }, told) }, `Save ${FORMS[form][0]}`), h("span", { class: "dim" }, FORMS[form][1])])),
        told),
      h("section", { class: "panel stack" }, h("h2", {}, "The data"), h("p", { class: "dim" }, "In any format scumble writes; reading it back gives the same data, as far as the format can carry it."), dataDownload(dataset))),
    h("section", { class: "panel" }, h("h2", {}, "In short"), h("div", { class: "verdict" }, verdict.map((sentence) => h("p", {}, sentence)))));
}
