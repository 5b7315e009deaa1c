import { h, nameElement } from "../dom.js";
import { createAndSave } from "../downloads.js";
import { fixed, int, percent, pluralize } from "../format.js";
import { encode } from "../api.js";
import { Models } from "../models.js";
import { changeMark, noticeIfResampled, plainTable, signed, Study } from "../study.js";

const BUDGETS = [["30", "30 seconds"], ["120", "2 minutes"], ["600", "10 minutes"], ["3600", "an hour"], ["", "no limit"]];
const TITLES = [["macro_f1", "Macro F1"], ["minority_f1", "F1 of rare labels"], ["micro_f1", "Micro F1"]];
const MAX_LISTED = 60;  // labels listed as not learnt yet

/** Render the page that recommends a method. */
export async function render(dataset) {
  const notice = noticeIfResampled(dataset, "advise", "Advise");
  if (notice) return notice;
  const budget = h("select", {}, BUDGETS.map(([value, title]) => h("option", { value, selected: value === "120" }, title)));
  const seed = h("input", { type: "number", min: 0, step: 1, value: 0, required: true });
  const button = h("button", { class: "primary" }, "Get advice");
  const models = new Models(dataset);
  const study = new Study({ dataset, kind: "advice", button, noun: (done, total) => `${percent(done / total, 0)} done`, draw: (advice) => drawAdvice(advice, dataset, models) });
  const submit = (event) => {
    event.preventDefault();
    study.start({ budget: budget.value ? Number(budget.value) : null, random_state: Number(seed.value) });
  };
  await Promise.all([study.restore(), models.load()]);
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Advise"), h("span", { class: "dim" }, "Which method is best for this data? Promising methods are evaluated on rows that they were not trained on.")),
    h("form", { class: "panel row", onsubmit: submit }, field("Time limit", budget), field("Seed", seed), button),
    study.element, models.element);
}

const field = (title, element) => h("label", { class: "field" }, h("span", {}, title), element);

/** Draw the result. */
function drawAdvice(advice, dataset, models) {
  const indexOfLabel = new Map(advice.labels.map((label, index) => [label.name, index]));
  const link = (label) => h("a", { class: "plain", href: `/d/${dataset.id}/concurrence?labels=${indexOfLabel.get(label.name)}` }, nameElement(label.name));
  return [
    advice.interrupted ? h("p", { class: "notice" }, `Stopped after ${pluralize(advice.methods.length, "method")}. The results cover only ${advice.methods.length === 1 ? "this method" : "these methods"}.`) : null,
    h("div", { class: "advice" }, Object.entries(advice.sentences).filter(([, sentences]) => sentences.length).map(([title, sentences]) => h("section", { class: title === "What helps here" ? "panel helps" : "panel" }, h("h2", {}, title), sentences.map((sentence) => h("p", {}, sentence))))),
    advice.nothing_to_learn ? null : nextSteps(advice, dataset, models),
    advice.nothing_to_learn ? null : methodTable(advice),
    labelsAtRisk(advice, link), unlearntLabels(advice, link),
  ];
}

/** Draw what can be done with the recommended method. */
function nextSteps(advice, dataset, models) {
  const status = h("div", { role: "status" });
  const train = models.trainButton(advice.chosen, { candidate: advice.chosen, random_state: advice.random_state });
  train.classList.replace("small", "primary");
  train.replaceChildren(`Train ${advice.chosen}`);
  return h("section", { class: "panel tight" }, h("h2", {}, "What to do"),
    h("div", { class: "row" }, train,
      h("a", { class: "button", href: `/d/${dataset.id}/compare` }, "Compare by cross-validation"),
      h("button", { type: "button", onclick: () => createAndSave(`/datasets/${encode(dataset.id)}/advice/page`, {}, status) }, "Save as HTML")),
    status,
    h("details", {}, h("summary", {}, "Commands for the shell and for Python"), h("pre", { tabindex: "0" }, advice.shell), h("pre", { tabindex: "0" }, advice.python.join("\n"))));
}

/** Return the verdict on a gain from its interval. */
function verdict({ value, low, high }) {
  if (value === null || value === 0) return "same";
  if (low > 0) return "better";
  return high < 0 ? "worse" : "chance";
}

/** Draw the table of methods. */
function methodTable(advice) {
  const order = [...advice.methods].sort((a, b) => (b.expected.macro_f1.value ?? 0) - (a.expected.macro_f1.value ?? 0));
  const valueWithInterval = ({ value, low, high }) => value === null ? "–" : [fixed(value, 3), h("span", { class: "dim within" }, ` ${fixed(low, 3)} to ${fixed(high, 3)}`)];
  const verdictTexts = { better: "better", worse: "worse", same: "baseline", chance: "may be chance" };
  const rows = order.map((method) => ({
    class: method.chosen ? "advised" : null,
    cells: [
      [h("span", {}, nameElement(method.name), method.chosen ? h("b", {}, " (advised)") : ""), h("span", { class: "what" }, method.what)],
      ...TITLES.map(([key]) => valueWithInterval(method.expected[key])),
      changeMark(method.family === "untreated" ? "baseline" : `${signed(method.gain.value)} ${verdictTexts[verdict(method.gain)]}`, method.family === "untreated" ? "same" : verdict(method.gain)),
      fixed(method.seconds, 1),
    ],
  }));
  return h("section", { class: "panel" }, h("h2", {}, "Methods"),
    h("p", { class: "dim" }, "Expected scores on new rows, with 90 % confidence intervals. The change is that of macro F1 against untreated trees."),
    plainTable("Methods and their expected scores", [["Method", "text"], ...TITLES.map(([, title]) => [title, ""]), ["Change", "text"], ["Seconds", "narrow-hide"]], rows, { "data-testid": "methods" }));
}

/** Draw the table of rare labels. */
function labelsAtRisk(advice, link) {
  const labelsByName = new Map(advice.labels.map((label) => [label.name, label]));
  const rows = advice.at_risk.map((label) => labelsByName.get(label)).map((label) => ({
    class: "is-rare",
    cells: [link(label), int(label.rows), fixed(label.irlbl, 1), fixed(label.scumble, 2), label.company === null ? "–" : [nameElement(label.company), `, ${percent(label.company_share, 0)}`], fixed(label.f1_untreated, 3), fixed(label.f1, 3)],
  }));
  if (!rows.length) return null;
  return h("section", { class: "panel" }, h("h2", {}, "Labels at risk"), h("p", { class: "dim" }, "Rare labels, those with the highest SCUMBLE first."),
    plainTable("Labels at risk", [["Label", "text"], ["Rows", ""], ["IRLbl", "", "How many times rarer the label is than the most frequent label."], ["SCUMBLE", ""], ["Mostly with", "text"], ["F1 untreated", ""], ["F1 advised", ""]], rows, { "data-testid": "risks" }));
}

/** List the labels that no method can learn yet. */
function unlearntLabels(advice, link) {
  const unlearnt = advice.labels.filter((label) => !label.learnable).sort((a, b) => b.rows - a.rows);
  if (!unlearnt.length || advice.nothing_to_learn) return null;
  const needed = advice.rows_needed;
  const rowsText = ({ rows }) => needed !== null && rows < needed ? `${pluralize(rows, "row")}, about ${int(needed - rows)} more needed` : pluralize(rows, "row");
  return h("section", { class: "panel" }, h("h2", {}, "Not learnt yet"),
    h("p", { class: "dim" }, `${pluralize(unlearnt.length, "label")} that no method here predicts, or ranks better than chance.`, needed === null ? "" : ` Most labels of this data can be learnt with about ${pluralize(needed, "row")} or more.`),
    h("ul", { class: "not-yet", "data-testid": "not-yet" }, unlearnt.slice(0, MAX_LISTED).map((label) => h("li", {}, link(label), h("span", { class: "dim" }, ` ${rowsText(label)}`)))),
    unlearnt.length > MAX_LISTED ? h("p", { class: "dim" }, `And ${int(unlearnt.length - MAX_LISTED)} more.`) : null);
}
