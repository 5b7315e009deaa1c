import { catalogue, get, part, post, remove } from "../api.js";
import { histogram } from "../charts.js";
import { dumbbells } from "../label_charts.js";
import { chordElement, draw, layoutOf, readout, savingChord } from "../chords.js";
import { h, help, name } from "../dom.js";
import { fixed, int, sig } from "../format.js";
import { go, query, setQuery } from "../router.js";
import { complain, find, refresh, state, treatmentOf, watch } from "../state.js";
import { dataDownload } from "../downloads.js";
import { fromApi, parseMethods, plainValues, writeMethod } from "../methods.js";

export async function render(dataset) {
  const page = new Treat(dataset, await catalogue());
  const chain = await page.showResult(query().get("result"));
  if (chain) page.fill(chain);
  return page.element;
}

class Treat {
  constructor(dataset, { methods }) {
    this.dataset = dataset;
    this.methods = new Map(methods.map((method) => [method.name, method]));
    this.steps = [];
    this.list = h("div");
    this.result = h("div", { class: "stack", "aria-live": "polite" });
    this.earlier = h("div");
    this.run = h("button", { class: "primary" }, "Run");
    this.more = h("button", { type: "button", onclick: () => this.addStep(this.next()) }, "Add a step");
    const [wishes = []] = parseMethods(query().get("chain") ?? "remedial");
    for (const { name: method, parameters } of wishes) this.addStep(method, plainValues(parameters));
    if (!this.steps.length) this.addStep("remedial");  // the address names nothing we have
    this.element = h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Treat"), h("span", { class: "dim" }, "Run resamplers, compare before and after, download the result. The data itself stays as it is.")),
      h("div", { class: "treat" },
        h("form", { class: "panel", onsubmit: (event) => { event.preventDefault(); this.start(); } }, this.list, h("div", { class: "row" }, this.run, this.more)),
        h("div", { class: "stack" }, this.earlier, this.result)));
  }

  /** Put steps with their parameters into the form, as those of a result that is looked at. */
  fill(chain) {
    this.steps = [];
    this.list.replaceChildren();
    for (const { method, parameters } of chain) this.addStep(method, parameters);
  }

  addStep(method, given = {}) {
    if (this.steps.length >= 6 || !this.methods.has(method)) return;
    const step = { method, given, inputs: new Map() };
    this.steps.push(step);
    step.element = h("fieldset", { class: "step" });
    step.element.addEventListener("invalid", (event) => this.refuse(event, step), true);
    this.list.append(step.element);
    this.drawStep(step);
    this.renumber();
  }

  /** Offer a method of the family that is not there yet. */
  next() {
    const used = new Set(this.steps.map((step) => this.methods.get(step.method).family));
    const all = [...this.methods.values()];
    return (all.find((method) => !used.has(method.family)) ?? all[0]).name;
  }

  renumber() {
    this.steps.forEach((step, at) => {
      const title = this.steps.length > 1 ? `Step ${at + 1}` : "Method";
      step.element.querySelector("legend").replaceChildren(h("span", {}, title), this.steps.length > 1 ? h("button", { type: "button", class: "small quiet", "aria-label": `Remove step ${at + 1}`, onclick: () => this.removeStep(step) }, "Remove") : "");
      step.select.setAttribute("aria-label", title);
    });
    this.more.disabled = this.steps.length >= 6;
    const chain = writeMethod(this.steps.map((step) => ({ name: step.method, parameters: this.changed(step) })));
    setQuery({ chain: chain === "remedial" ? null : chain }, { replace: true });
  }

  /** What a step was given that is not as it comes. */
  changed({ method, given }) {
    const unusual = ({ name: key, kind, default: usual }) => key in given && given[key] !== (usual ?? (kind === "seed" ? 0 : null));
    return Object.fromEntries(this.methods.get(method).parameters.filter(unusual).map(({ name: key }) => [key, given[key]]));
  }

  removeStep(step) {
    this.steps.splice(this.steps.indexOf(step), 1);
    step.element.remove();
    this.renumber();
    this.more.focus();
  }

  drawStep(step) {
    const method = this.methods.get(step.method);
    const families = Map.groupBy ? Map.groupBy(this.methods.values(), (each) => each.family) : grouped(this.methods);
    step.select = h("select", { onchange: (event) => { step.method = event.target.value; step.given = {}; this.drawStep(step); this.renumber(); step.select.focus(); } },
      [...families].map(([family, members]) => h("optgroup", { label: family }, members.map((each) => h("option", { value: each.name, selected: each.name === step.method }, each.title)))));
    step.inputs = new Map(method.parameters.map((parameter) => [parameter.name, input(parameter, this.methods, step.given[parameter.name] ?? parameter.default)]));
    step.element.replaceChildren(
      h("legend", {}),
      step.select,
      h("p", {}, method.summary, " ", method.details ? help(method.title, method.details) : ""),
      method.parameters.length ? h("div", { class: "fields" }, method.parameters.map((parameter) => field(parameter, step.inputs.get(parameter.name)))) : "");
  }

  /** Say what a field may hold, in the words of the library, before anything is sent. */
  refuse(event, step) {
    event.preventDefault();
    const parameter = this.methods.get(step.method).parameters.find(({ name: key }) => step.inputs.get(key) === event.target);
    this.result.replaceChildren(h("p", { class: "notice bad", role: "alert" }, `${parameter.title} must be ${parameter.allowed}.`));
    event.target.focus();
  }

  async start() {
    const steps = this.steps.map((step) => ({ method: step.method, parameters: values(this.methods.get(step.method), step.inputs) }));
    this.result.replaceChildren(h("p", { class: "dim" }, "Working … Other pages can be looked at meanwhile."));
    this.run.disabled = true;
    try {
      const job = await post(`/datasets/${part(this.dataset.id)}/treatments`, { steps });
      const { result } = await watch(job, { owner: this.element });
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

  async showResult(id) {
    this.drawEarlier(id);
    if (!id || !find(id)) {
      this.result.replaceChildren(h("p", { class: "dim" }, id ? "This result has been closed." : "Choose a method and run it: the result appears here."));
      return null;
    }
    const found = await get(`/datasets/${part(id)}/comparison`);
    const after = find(id);
    this.result.replaceChildren(
      h("section", { class: "panel" },
        h("div", { class: "row" }, h("h2", {}, "Before and after ", name(treatmentOf(after))), h("span", { class: "push row" }, h("a", { class: "button small", href: `/d/${this.dataset.id}/compare?treatments=${part(writeMethod(fromApi(found.chain)))}` }, "Does it help? Prove it"), h("a", { class: "button small", href: `/d/${id}/overview` }, "Look closer"), h("button", { type: "button", class: "small", onclick: () => this.discard(id) }, "Discard"))),
        traits(found), h("div", { class: "dim notes" }, found.notes.map((note, at) => h("p", {}, `${found.steps[at].title}: ${note}`)))),
      h("section", { class: "panel" }, h("h2", {}, "Download the result"), dataDownload(after)),
      found.labels.length ? h("section", { class: "panel" }, h("h2", {}, "Difficult labels: SCUMBLE"), dumbbells({ rows: found.labels })) : "",
      found.histograms.before ? this.pair("SCUMBLE per instance (log)", (side) => histogram({ title: `SCUMBLE per instance, ${side}`, data: found.histograms[side], most: Math.max(...found.histograms.before.counts, ...found.histograms.after.counts), log: true, height: 150, label: (low, high) => `SCUMBLE ${sig(low, 3)}–${sig(high, 3)}` })) : "",
      found.histograms.before ? await this.chords(id) : "");
    return found.chain;
  }

  pair(title, make) {
    return h("section", { class: "panel" }, h("h2", {}, title), h("div", { class: "pair" }, ["before", "after"].map((side) => h("div", {}, h("h3", {}, side[0].toUpperCase() + side.slice(1)), make(side)))));
  }

  async chords(id) {
    const before = await layoutOf(this.dataset.id, null);
    const after = await layoutOf(id, before.arcs.map((arc) => arc.label), { order: "given" });
    return this.pair("Concurrence of the same labels, in the same colours", (side) => {
      const svg = chordElement();
      draw(svg, side === "before" ? before : after, { like: before, cuts: [16, 12, 9] });
      return h("figure", {}, svg, readout(svg), savingChord(svg, `Chord ${side}`));
    });
  }

  drawEarlier(current) {
    const results = state.datasets.filter((each) => each.parent === this.dataset.id);
    this.earlier.replaceChildren(results.length > 1 || (results.length && !current) ? h("nav", { class: "chips", "aria-label": "Results so far" }, h("span", { class: "dim" }, "Results: "), results.map((each) => h("a", { class: "chip", href: `/d/${this.dataset.id}/treat?result=${each.id}`, "aria-current": each.id === current ? "true" : null }, name(treatmentOf(each))))) : "");
  }

  async discard(id) {
    try {
      await remove(`/datasets/${part(id)}`);
      await refresh();
      go(`/d/${this.dataset.id}/treat`, { replace: true });
    } catch (error) {
      complain(error);
    }
  }
}

function grouped(methods) {
  const found = new Map();
  for (const method of methods.values()) found.set(method.family, [...(found.get(method.family) ?? []), method]);
  return found;
}

export function input(parameter, methods, value = parameter.default) {
  const { kind, choices } = parameter;
  if (kind === "choice" || kind === "method") return h("select", {}, choices.map((each) => h("option", { value: each, selected: each === value }, methods.get(each)?.title ?? each)));
  if (kind === "switch") return h("input", { type: "checkbox", checked: value });
  if (kind === "seed") return h("input", { type: "number", min: 0, step: 1, value: value ?? 0 });
  if (kind === "integer" || kind === "number") return h("input", { type: "number", min: parameter.minimum, max: parameter.maximum, step: kind === "integer" ? 1 : "any", value, required: parameter.required });
  return h("input", { type: "text", value });
}

let serial = 0;
export function field({ kind, title, help: words, allowed }, element) {
  element.id = `parameter-${++serial}`;
  const label = h("label", { for: element.id }, title);
  const more = words ? help(title, words, " ", kind === "switch" ? "" : h("span", { class: "dim" }, `Allowed: ${allowed}.`)) : "";
  return kind === "switch" ? h("div", { class: "tick" }, element, label, more) : h("div", { class: "field" }, h("span", {}, label, " ", more), element);
}

export function values(method, inputs) {
  const found = {};
  for (const { name: key, kind, choices } of method.parameters) {
    const element = inputs.get(key);
    const text = element.value.trim();
    if (kind === "switch") found[key] = element.checked;
    else if (kind === "choice" || kind === "method") found[key] = choices.find((each) => String(each ?? "") === text);
    else if (text !== "") found[key] = Number.isNaN(Number(text)) ? text : Number(text);
  }
  return found;
}

const FORMATS = { cardinality: 4, density: 4, mean_ir: 4, max_ir: 4, scumble: 6, scumble_cv: 4, tcs: 4 };

function traits({ traits: rows, steps }) {
  const show = (row, value) => row.key in FORMATS ? fixed(value, FORMATS[row.key]) : int(value);
  const titles = steps.map((step) => `after ${step.title}`);
  return h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": "Traits before and after" }, h("table", { class: "traits", "data-testid": "traits" },
    h("caption", { class: "visually-hidden" }, "Traits before and after"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Trait"), h("th", { scope: "col" }, "before"), titles.map((title) => h("th", { scope: "col" }, title)), h("th", { scope: "col" }, "change"))),
    h("tbody", {}, rows.map((row) => h("tr", { "data-trait": row.key }, h("th", { scope: "row" }, row.title), h("td", {}, show(row, row.before)), row.steps.map((value) => h("td", {}, show(row, value))), h("td", {}, change(row.before, row.steps.at(-1))))))));
}

function change(before, after) {
  if (before === null || after === null) return "–";
  if (before === after) return h("span", { class: "dim" }, "same");
  if (before === 0) return "new";
  const part = (100 * (after - before)) / before;
  const shown = Math.abs(part) >= 1000 ? int(part) : fixed(part, 1);
  return `${part > 0 ? "+" : "−"}${shown.replace("-", "")} %`;
}
