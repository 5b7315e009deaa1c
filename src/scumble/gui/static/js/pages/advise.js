import { h, name } from "../dom.js";
import { makeFile } from "../downloads.js";
import { counted, fixed, int, percent } from "../format.js";
import { part } from "../api.js";
import { Models } from "../models.js";
import { change, onlyUntreated, plainTable, signed, Study } from "../study.js";

const BUDGETS = [["30", "30 seconds"], ["120", "2 minutes"], ["600", "10 minutes"], ["3600", "an hour"], ["", "as long as it takes"]];
const TITLES = [["macro_f1", "Macro F1"], ["minority_f1", "Of rare labels"], ["micro_f1", "Micro F1"]];
const MOST = 60;

export async function render(dataset) {
  const treated = onlyUntreated(dataset, "advise", "Advise");
  if (treated) return treated;
  const budget = h("select", {}, BUDGETS.map(([value, title]) => h("option", { value, selected: value === "120" }, title)));
  const seed = h("input", { type: "number", min: 0, step: 1, value: 0, required: true });
  const button = h("button", { class: "primary" }, "Ask for advice");
  const models = new Models(dataset);
  const study = new Study({ dataset, kind: "advice", button, noun: (done, total) => `${percent(done / total, 0)} done`, draw: (advice) => drawAdvice(advice, dataset, models) });
  const begin = (event) => {
    event.preventDefault();
    study.begin({ budget: budget.value ? Number(budget.value) : null, random_state: Number(seed.value) });
  };
  await Promise.all([study.restore(), models.load()]);
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Advise"), h("span", { class: "dim" }, "Which method to take for this data, by trying the likely ones on rows they have not seen.")),
    h("form", { class: "panel row", onsubmit: begin }, field("Time it may take", budget), field("Seed", seed), button),
    study.element, models.element);
}

const field = (title, element) => h("label", { class: "field" }, h("span", {}, title), element);

function drawAdvice(advice, dataset, models) {
  const index = new Map(advice.labels.map((label, at) => [label.name, at]));
  const link = (label) => h("a", { class: "plain", href: `/d/${dataset.id}/concurrence?labels=${index.get(label.name)}` }, name(label.name));
  return [
    advice.interrupted ? h("p", { class: "notice" }, `It was stopped after ${counted(advice.methods.length, "method")}, and tells what is known of ${advice.methods.length === 1 ? "it" : "these"}.`) : null,
    h("div", { class: "advice" }, Object.entries(advice.sentences).filter(([, told]) => told.length).map(([title, told]) => h("section", { class: title === "What helps here" ? "panel helps" : "panel" }, h("h2", {}, title), told.map((sentence) => h("p", {}, sentence))))),
    advice.nothing_to_learn ? null : whatToDo(advice, dataset, models),
    advice.nothing_to_learn ? null : methods(advice),
    atRisk(advice, link), notYet(advice, link),
  ];
}

function whatToDo(advice, dataset, models) {
  const told = h("div", { role: "status" });
  const train = models.trainer(advice.chosen, { candidate: advice.chosen, random_state: advice.random_state });
  train.classList.replace("small", "primary");
  train.replaceChildren(`Train ${advice.chosen}`);
  return h("section", { class: "panel tight" }, h("h2", {}, "What to do"),
    h("div", { class: "row" }, train,
      h("a", { class: "button", href: `/d/${dataset.id}/compare` }, "Prove it on folds"),
      h("button", { type: "button", onclick: () => makeFile(`/datasets/${part(dataset.id)}/advice/page`, {}, told) }, "Save this as a page")),
    told,
    h("details", {}, h("summary", {}, "Lines for the shell and for Python"), h("pre", { tabindex: "0" }, advice.shell), h("pre", { tabindex: "0" }, advice.python.join("\n"))));
}

function methods(advice) {
  const order = [...advice.methods].sort((a, b) => (b.expected.macro_f1.value ?? 0) - (a.expected.macro_f1.value ?? 0));
  const within = ({ value, low, high }) => value === null ? "–" : [fixed(value, 3), h("span", { class: "dim within" }, ` ${fixed(low, 3)} to ${fixed(high, 3)}`)];
  const verdict = ({ value, low, high }) => value === null || value === 0 ? "same" : low > 0 ? "better" : high < 0 ? "worse" : "chance";
  const words = { better: "better", worse: "worse", same: "the yardstick", chance: "may be chance" };
  const rows = order.map((one) => ({
    class: one.chosen ? "advised" : null,
    cells: [
      [h("span", {}, name(one.name), one.chosen ? h("b", {}, " (advised)") : ""), h("span", { class: "what" }, one.what)],
      ...TITLES.map(([key]) => within(one.expected[key])),
      change(one.family === "untreated" ? "the yardstick" : `${signed(one.gain.value)} ${words[verdict(one.gain)]}`, one.family === "untreated" ? "same" : verdict(one.gain)),
      fixed(one.seconds, 1),
    ],
  }));
  return h("section", { class: "panel" }, h("h2", {}, "Methods"),
    h("p", { class: "dim" }, "What to expect on new rows, with the interval that holds in nine of ten cases. The change is that of macro F1 against untreated trees."),
    plainTable("Methods and what to expect of them", [["Method", "text"], ...TITLES.map(([, title]) => [title, ""]), ["Change", "text"], ["Seconds", "narrow-hide"]], rows, { "data-testid": "methods" }));
}

function atRisk(advice, link) {
  const known = new Map(advice.labels.map((label) => [label.name, label]));
  const rows = advice.at_risk.map((label) => known.get(label)).map((label) => ({
    class: "is-rare",
    cells: [link(label), int(label.rows), fixed(label.irlbl, 1), fixed(label.scumble, 2), label.company === null ? "–" : [name(label.company), `, ${percent(label.company_share, 0)}`], fixed(label.f1_untreated, 3), fixed(label.f1, 3)],
  }));
  if (!rows.length) return null;
  return h("section", { class: "panel" }, h("h2", {}, "Labels at risk"), h("p", { class: "dim" }, "Rare labels, those in the most unequal company first."),
    plainTable("Labels at risk", [["Label", "text"], ["Rows", ""], ["Times rarer", "", "than the most frequent label"], ["SCUMBLE", ""], ["Meets most", "text"], ["F1 untreated", ""], ["F1 as advised", ""]], rows, { "data-testid": "risks" }));
}

function notYet(advice, link) {
  const found = advice.labels.filter((label) => !label.learnable).sort((a, b) => b.rows - a.rows);
  if (!found.length || advice.nothing_to_learn) return null;
  const needed = advice.rows_needed;
  const lack = ({ rows }) => needed !== null && rows < needed ? `${counted(rows, "row")}, about ${int(needed - rows)} more needed` : counted(rows, "row");
  return h("section", { class: "panel" }, h("h2", {}, "Not learnt yet"),
    h("p", { class: "dim" }, `${counted(found.length, "label")} that no method here finds, or tells apart better than by chance.`, needed === null ? "" : ` Most labels of this data are learnt from about ${counted(needed, "row")} on.`),
    h("ul", { class: "not-yet", "data-testid": "not-yet" }, found.slice(0, MOST).map((label) => h("li", {}, link(label), h("span", { class: "dim" }, ` ${lack(label)}`)))),
    found.length > MOST ? h("p", { class: "dim" }, `And ${int(found.length - MOST)} more.`) : null);
}
