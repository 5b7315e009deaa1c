import { catalogue, encode } from "../api.js";
import { MethodChoices } from "../choices.js";
import { h, nameElement } from "../dom.js";
import { fromApi } from "../methods.js";
import { fixed, int, percent, pluralize, significant } from "../format.js";
import { changeMark, plainTable, progressOf, Study } from "../study.js";

/** Render the page that shows what resamplers change. */
export async function render(dataset) {
  const { methods } = await catalogue();
  const button = h("button", { class: "primary" }, "Run");
  const count = h("span", { class: "dim", "aria-live": "polite" });
  const allNames = methods.map((method) => method.name);
  const choices = new MethodChoices({ legend: "Methods and their parameters", items: methods, selected: allNames.map((name) => ({ name })), nameKey: "method", onchange: () => showCount() });
  const showCount = () => {
    count.textContent = pluralize(choices.names.length, "method");
    button.disabled = choices.names.length === 0;
  };
  const study = new Study({ dataset, kind: "methods", button, noun: progressOf("methods"), draw: (comparison) => drawComparison(comparison, dataset) });
  const selectButton = (names) => h("button", { type: "button", class: "small", onclick: () => choices.selectNames(names) }, names.length ? "All" : "None");
  const last = await study.restore();
  if (last) choices.select(Object.values(last.chains).flatMap(fromApi));
  showCount();
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Before and after"), h("span", { class: "dim" }, "What each resampler changes in this data, side by side. The data itself is not changed.")),
    h("form", { class: "panel tight", onsubmit: (event) => { event.preventDefault(); study.start({ methods: choices.selections() }); } },
      h("div", { class: "row" }, button, count, selectButton(allNames), selectButton([])),
      h("details", {}, h("summary", {}, "Select methods"), choices.element)),
    study.element);
}

/** Draw the result. */
function drawComparison(comparison, dataset) {
  const done = comparison.methods.filter((method) => method.error === null);
  const failed = comparison.methods.filter((method) => method.error !== null);
  const { advised } = comparison;
  const preselected = done.find((result) => comparison.chains[result.method][0].method === advised.method)?.method ?? null;
  const actions = h("div", { class: "row", "aria-live": "polite" });
  const select = (method) => {
    actions.replaceChildren(
      h("a", { class: "button primary", href: `/d/${dataset.id}/compare?treatments=${encode(method)}` }, `Compare ${method}`),
      h("a", { class: "button", href: `/d/${dataset.id}/treat?chain=${encode(method)}` }, `Treat with ${method}`));
  };
  const radio = (method) => h("input", { type: "radio", name: "pick", "aria-label": `Select ${method}`, checked: method === preselected, onchange: () => select(method) });
  const rows = done.map((result) => ({
    class: result.method === preselected ? "advised" : null,
    cells: [
      h("label", { class: "tick" }, radio(result.method), h("span", {}, nameElement(result.method), result.method === preselected ? h("b", {}, " (advised)") : "")),
      ...comparison.measures.map(({ key }) => cell(key, result.changes[key])),
      fixed(result.seconds, 2),
    ],
  }));
  if (preselected) select(preselected);
  return [
    h("section", { class: "panel tight" }, h("h2", {}, "Verdict"),
      h("p", { class: "helps-line" }, comparison.verdict),
      h("p", { class: "notice" }, h("b", {}, `Recommended: ${advised.method}. `), advised.reason, advised.measured_here ? "" : [" ", h("a", { href: `/d/${dataset.id}/advise` }, "Advise evaluates it on this data.")]),
      actions),
    h("section", { class: "panel" }, h("h2", {}, "Side by side"),
      h("p", { class: "dim" }, "Before: ", comparison.measures.map(({ key, title: measure }, index) => `${index ? ", " : ""}${measure} ${number(key, comparison.before[key])}`).join(""), "."),
      plainTable("Methods side by side", [["Method", "text"], ...comparison.measures.map(({ title: measure }) => [measure, "text"]), ["Seconds", "narrow-hide"]], rows, { "data-testid": "side-by-side" }),
      failed.map((result) => h("p", { class: "notice bad" }, nameElement(result.method), `: ${result.error}`))),
  ];
}

/** Format the value of a measure. */
const number = (key, value) => (key.startsWith("n_") ? int(value) : significant(value, 4));

/** Draw the value of a measure and its change. */
function cell(key, { value, part: share, verdict }) {
  const words = [];
  if (share !== null && verdict !== "same") words.push(`${share < 0 ? "−" : "+"}${percent(Math.abs(share), 1)}`);
  if (verdict !== "changed") words.push(verdict);
  else if (share === null) words.push("new");
  return [h("span", { class: "num" }, number(key, value)), " ", changeMark(words.join(" "), verdict)];
}
