import { catalogue, encode, get, post, remove } from "../api.js";
import { histogram } from "../charts.js";
import { dumbbells } from "../label_charts.js";
import { chordElement, chordSaveButtons, drawFitted, fetchLayout, readout } from "../chords.js";
import { h, help, nameElement } from "../dom.js";
import { fixed, int, significant } from "../format.js";
import { go, query, setQuery } from "../router.js";
import { findDataset, refresh, showError, state, treatmentTitle, watchJob } from "../state.js";
import { loadStyles } from "../styles.js";
import { exportForm } from "../exports.js";
import { formatMethod, fromApi, parseMethods, parseValues } from "../methods.js";

/** Render the page that resamples a data set. */
export async function render(dataset) {
  const [entries] = await Promise.all([catalogue(), loadStyles("/static/studies.css")]);
  const page = new Treat(dataset, entries);
  const chain = await page.showResult(query().get("result"));
  if (chain) page.setSteps(chain);
  return page.element;
}

/** The steps of a treatment, and its result. */
class Treat {
  constructor(dataset, { methods }) {
    this.dataset = dataset;
    this.methods = new Map(methods.map((method) => [method.name, method]));
    this.steps = [];
    this.list = h("div");
    this.result = h("div", { class: "stack", "aria-live": "polite" });
    this.earlier = h("div");
    this.run = h("button", { class: "primary" }, "Run");
    this.addButton = h("button", { type: "button", onclick: () => this.addStep(this.nextMethod()) }, "Add a step");
    const [steps = []] = parseMethods(query().get("chain") ?? "remedial");
    for (const { name: method, parameters } of steps) this.addStep(method, parseValues(parameters));
    if (!this.steps.length) this.addStep("remedial");  // the address names no known method
    this.element = h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Treat"), h("span", { class: "dim" }, "Run resamplers, compare before and after, and download the result. The data itself is not changed.")),
      h("div", { class: "treat" },
        h("form", { class: "panel", onsubmit: (event) => { event.preventDefault(); this.start(); } }, this.list, h("div", { class: "row" }, this.run, this.addButton)),
        h("div", { class: "stack" }, this.earlier, this.result)));
  }

  /** Fill the form with steps and their parameters. */
  setSteps(chain) {
    this.steps = [];
    this.list.replaceChildren();
    for (const { method, parameters } of chain) this.addStep(method, parameters);
  }

  /** Add a step to the form. */
  addStep(method, parameters = {}) {
    if (this.steps.length >= 6 || !this.methods.has(method)) return;
    const step = { method, parameters, inputs: new Map() };
    this.steps.push(step);
    step.element = h("fieldset", { class: "step" });
    step.element.addEventListener("invalid", (event) => this.showInvalid(event, step), true);
    this.list.append(step.element);
    this.drawStep(step);
    this.renumber();
  }

  /** Return a method of a display group that no step uses yet. */
  nextMethod() {
    const used = new Set(this.steps.map((step) => this.methods.get(step.method).family));
    const all = [...this.methods.values()];
    return (all.find((method) => !used.has(method.family)) ?? all[0]).name;
  }

  /** Update the numbers of the steps and the address. */
  renumber() {
    this.steps.forEach((step, index) => {
      const title = this.steps.length > 1 ? `Step ${index + 1}` : "Method";
      step.element.querySelector("legend").replaceChildren(h("span", {}, title), this.steps.length > 1 ? h("button", { type: "button", class: "small quiet", "aria-label": `Remove step ${index + 1}`, onclick: () => this.removeStep(step) }, "Remove") : "");
      step.select.setAttribute("aria-label", title);
    });
    this.addButton.disabled = this.steps.length >= 6;
    const chain = formatMethod(this.steps.map((step) => ({ name: step.method, parameters: this.changedParameters(step) })));
    setQuery({ chain: chain === "remedial" ? null : chain }, { replace: true });
  }

  /** Return the parameters of a step that differ from their defaults. */
  changedParameters({ method, parameters }) {
    const isChanged = ({ name: key, kind, default: defaultValue }) => key in parameters && parameters[key] !== (defaultValue ?? (kind === "seed" ? 0 : null));
    return Object.fromEntries(this.methods.get(method).parameters.filter(isChanged).map(({ name: key }) => [key, parameters[key]]));
  }

  /** Remove a step from the form. */
  removeStep(step) {
    this.steps.splice(this.steps.indexOf(step), 1);
    step.element.remove();
    this.renumber();
    this.addButton.focus();
  }

  /** Draw the method of a step and its parameters. */
  drawStep(step) {
    const method = this.methods.get(step.method);
    const groups = Map.groupBy ? Map.groupBy(this.methods.values(), (item) => item.family) : groupMethods(this.methods);
    step.select = h("select", { onchange: (event) => { step.method = event.target.value; step.parameters = {}; this.drawStep(step); this.renumber(); step.select.focus(); } },
      [...groups].map(([group, members]) => h("optgroup", { label: group }, members.map((item) => h("option", { value: item.name, selected: item.name === step.method }, item.title)))));
    step.inputs = new Map(method.parameters.map((parameter) => [parameter.name, input(parameter, this.methods, step.parameters[parameter.name] ?? parameter.default)]));
    step.element.replaceChildren(
      h("legend", {}),
      step.select,
      h("p", {}, method.summary, " ", method.details ? help(method.title, method.details) : ""),
      method.parameters.length ? h("div", { class: "fields" }, method.parameters.map((parameter) => field(parameter, step.inputs.get(parameter.name)))) : "");
  }

  /** Show which values a parameter allows; the form is not sent. */
  showInvalid(event, step) {
    event.preventDefault();
    const parameter = this.methods.get(step.method).parameters.find(({ name: key }) => step.inputs.get(key) === event.target);
    this.result.replaceChildren(h("p", { class: "notice bad", role: "alert" }, `${parameter.title} must be ${parameter.allowed}.`));
    event.target.focus();
  }

  /** Run the steps and show the result. */
  async start() {
    const steps = this.steps.map((step) => ({ method: step.method, parameters: values(this.methods.get(step.method), step.inputs) }));
    this.result.replaceChildren(h("p", { class: "dim" }, "Running … You can use other pages meanwhile."));
    this.run.disabled = true;
    try {
      const job = await post(`/datasets/${encode(this.dataset.id)}/treatments`, { steps });
      const { result } = await watchJob(job, { owner: this.element });
      await refresh();
      if (this.element.isConnected) {
        setQuery({ result: result.dataset.id });
        await this.showResult(result.dataset.id);
      }
    } catch (error) {
      this.result.replaceChildren(error.name === "AbortError" ? h("p", { class: "notice" }, "Cancelled. Nothing was changed.") : h("p", { class: "notice bad", role: "alert" }, error.message));
    } finally {
      this.run.disabled = false;
    }
  }

  /** Show a result and return its steps. */
  async showResult(id) {
    this.drawEarlier(id);
    if (!id || !findDataset(id)) {
      this.result.replaceChildren(h("p", { class: "dim" }, id ? "This result has been closed." : "Select a method and run it: the result appears here."));
      return null;
    }
    const result = await get(`/datasets/${encode(id)}/before-and-after`);
    const after = findDataset(id);
    this.result.replaceChildren(
      h("section", { class: "panel" },
        h("div", { class: "row" }, h("h2", {}, "Before and after ", nameElement(treatmentTitle(after))), h("span", { class: "push row" }, h("a", { class: "button small", href: `/d/${this.dataset.id}/compare?treatments=${encode(formatMethod(fromApi(result.chain)))}` }, "Compare by cross-validation"), h("a", { class: "button small", href: `/d/${id}/overview` }, "Explore"), h("button", { type: "button", class: "small", onclick: () => this.discard(id) }, "Discard"))),
        measureTable(result), h("div", { class: "dim notes" }, result.notes.map((note, index) => h("p", {}, `${result.steps[index].title}: ${note}`)))),
      h("section", { class: "panel" }, h("h2", {}, "Download the result"), exportForm(after)),
      result.labels.length ? h("section", { class: "panel" }, h("h2", {}, "Difficult labels: SCUMBLE"), dumbbells({ rows: result.labels })) : "",
      result.histograms.before ? this.beforeAndAfter("SCUMBLE per instance (log)", (side) => histogram({ title: `SCUMBLE per instance, ${side}`, data: result.histograms[side], largest: Math.max(...result.histograms.before.counts, ...result.histograms.after.counts), log: true, height: 150, label: (low, high) => `SCUMBLE ${significant(low, 3)}–${significant(high, 3)}` })) : "",
      result.histograms.before ? await this.chords(id) : "");
    return result.chain;
  }

  /** Draw something for the data before and after, side by side. */
  beforeAndAfter(title, make) {
    return h("section", { class: "panel" }, h("h2", {}, title), h("div", { class: "pair" }, ["before", "after"].map((side) => h("div", {}, h("h3", {}, side[0].toUpperCase() + side.slice(1)), make(side)))));
  }

  /** Draw the chord diagrams of the same labels. */
  async chords(id) {
    const before = await fetchLayout(this.dataset.id, null);
    const after = await fetchLayout(id, before.arcs.map((arc) => arc.label), { order: "given" });
    return this.beforeAndAfter("Concurrence of the same labels, in the same colours", (side) => {
      const svg = chordElement();
      drawFitted(svg, side === "before" ? before : after, { like: before, nameLengths: [16, 12, 9] });
      return h("figure", {}, svg, readout(svg), chordSaveButtons(svg, `Chord ${side}`));
    });
  }

  /** Draw links to the other results. */
  drawEarlier(current) {
    const results = state.datasets.filter((item) => item.parent === this.dataset.id);
    this.earlier.replaceChildren(results.length > 1 || (results.length && !current) ? h("nav", { class: "chips", "aria-label": "Results" }, h("span", { class: "dim" }, "Results: "), results.map((item) => h("a", { class: "chip", href: `/d/${this.dataset.id}/treat?result=${item.id}`, "aria-current": item.id === current ? "true" : null }, nameElement(treatmentTitle(item))))) : "");
  }

  /** Close a result. */
  async discard(id) {
    try {
      await remove(`/datasets/${encode(id)}`);
      await refresh();
      go(`/d/${this.dataset.id}/treat`, { replace: true });
    } catch (error) {
      showError(error);
    }
  }
}

/** Group methods by display group. */
function groupMethods(methods) {
  const result = new Map();
  for (const method of methods.values()) result.set(method.family, [...(result.get(method.family) ?? []), method]);
  return result;
}

/** Create the input element of a parameter. */
export function input(parameter, methods, value = parameter.default) {
  const { kind, choices } = parameter;
  if (kind === "choice" || kind === "method") return h("select", {}, choices.map((item) => h("option", { value: item, selected: item === value }, methods.get(item)?.title ?? item)));
  if (kind === "switch") return h("input", { type: "checkbox", checked: value });
  if (kind === "seed") return h("input", { type: "number", min: 0, step: 1, value: value ?? 0 });
  if (kind === "integer" || kind === "number") return h("input", { type: "number", min: parameter.minimum, max: parameter.maximum, step: kind === "integer" ? 1 : "any", value, required: parameter.required });
  return h("input", { type: "text", value });
}

let lastId = 0;
/** Label the input element of a parameter. */
export function field({ kind, title, help: explanation, allowed }, element) {
  element.id = `parameter-${++lastId}`;
  const label = h("label", { for: element.id }, title);
  const helpElement = explanation ? help(title, explanation, " ", kind === "switch" ? "" : h("span", { class: "dim" }, `Allowed: ${allowed}.`)) : "";
  return kind === "switch" ? h("div", { class: "tick" }, element, label, helpElement) : h("div", { class: "field" }, h("span", {}, label, " ", helpElement), element);
}

/** Return the values of the parameters. */
export function values(method, inputs) {
  const result = {};
  for (const { name: key, kind, choices } of method.parameters) {
    const element = inputs.get(key);
    const text = element.value.trim();
    if (kind === "switch") result[key] = element.checked;
    else if (kind === "choice" || kind === "method") result[key] = choices.find((item) => String(item ?? "") === text);
    else if (text !== "") result[key] = Number.isNaN(Number(text)) ? text : Number(text);
  }
  return result;
}

const FORMATS = { cardinality: 4, density: 4, mean_ir: 4, max_ir: 4, scumble: 6, scumble_cv: 4, tcs: 4 };

/** Draw the table of measures before and after. */
function measureTable({ measures: rows, steps }) {
  const show = (row, value) => row.key in FORMATS ? fixed(value, FORMATS[row.key]) : int(value);
  const titles = steps.map((step) => `after ${step.title}`);
  return h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": "Measures before and after" }, h("table", { class: "before-after", "data-testid": "measures" },
    h("caption", { class: "visually-hidden" }, "Measures before and after"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Measure"), h("th", { scope: "col" }, "before"), titles.map((title) => h("th", { scope: "col" }, title)), h("th", { scope: "col" }, "change"))),
    h("tbody", {}, rows.map((row) => h("tr", { "data-measure": row.key }, h("th", { scope: "row" }, row.title), h("td", {}, show(row, row.before)), row.steps.map((value) => h("td", {}, show(row, value))), h("td", {}, changeText(row.before, row.steps.at(-1))))))));
}

/** Format the change of a measure. */
function changeText(before, after) {
  if (before === null || after === null) return "–";
  if (before === after) return h("span", { class: "dim" }, "same");
  if (before === 0) return "new";
  const percentage = (100 * (after - before)) / before;
  const rounded = Math.abs(percentage) >= 1000 ? int(percentage) : fixed(percentage, 1);
  return `${percentage > 0 ? "+" : "−"}${rounded.replace("-", "")} %`;
}
