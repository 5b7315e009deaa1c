import { catalogue, get, part } from "../api.js";
import { isNarrow } from "../charts.js";
import { Choices } from "../choices.js";
import { h, name } from "../dom.js";
import { counted, fixed, int } from "../format.js";
import { gainsChart, intervals } from "../gains.js";
import { fromApi, parseMethods, plainValues, toApi, writeMethod } from "../methods.js";
import { Models } from "../models.js";
import { query } from "../router.js";
import { change, ofTotal, onlyUntreated, plainTable, signed, Study } from "../study.js";

const wordOf = (verdict) => ({ better: "better", worse: "worse" })[verdict] ?? "may be chance";

export async function render(dataset) {
  const treated = onlyUntreated(dataset, "prove", "Prove");
  if (treated) return treated;
  const [known, { job: advice }] = await Promise.all([catalogue(), get(`/datasets/${part(dataset.id)}/advice`)]);
  const page = new Prove(dataset, known, advice?.result ?? null);
  const [last] = await Promise.all([page.study.restore(), page.models.load()]);
  if (last) page.fill(last);
  return page.element;
}

class Prove {
  constructor(dataset, { classifiers, methods }, advice) {
    this.dataset = dataset;
    const given = (key, usual) => parseMethods(query().get(key) ?? usual);
    const treatments = given("treatments", "");
    this.names = new Set(methods.map((method) => method.name));
    const number = (value, min, max) => h("input", { type: "number", min, max, step: 1, value, required: true });
    this.run = h("button", { class: "primary" }, "Prove");
    this.count = h("p", { class: "dim", "aria-live": "polite", "data-testid": "count" });
    this.classifiers = new Choices({ legend: "Classifiers", items: classifiers, chosen: given("classifiers", usual(advice)).flat(), key: "classifier", onchange: () => this.chosen() });
    this.treatments = new Choices({ legend: "Treatments", help: "Of the training parts only. Untreated is there in any case.", items: methods, chosen: single(treatments), key: "method", onchange: () => this.chosen() });
    this.chains = h("div");
    this.setChains(treatments);
    this.baseline = h("select", { onchange: () => { this.held = this.baseline.value; } });
    this.held = "br";
    [this.repeats, this.folds, this.seed] = [number(2, 1, 10), number(5, 2, 20), number(0, 0)];
    for (const each of [this.repeats, this.folds]) each.addEventListener("input", () => this.chosen());
    this.models = new Models(dataset);
    this.study = new Study({ dataset, kind: "proof", button: this.run, noun: ofTotal("folds judged"), draw: (proof) => this.draw(proof) });
    const field = (title, element) => h("label", { class: "field" }, h("span", {}, title), element);
    this.options = h("details", { open: true }, h("summary", {}, "Choose"), h("div", { class: "tight" }, this.classifiers.element, this.treatments.element, this.chains,
      h("div", { class: "fields" }, field("Held against", this.baseline), field("Folds", this.folds), field("Repeated", this.repeats), field("Seed", this.seed))));
    this.element = h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Prove"), h("span", { class: "dim" }, "Does it help on this data? Classifiers with and without treatments, judged on the same folds.")),
      h("div", { class: "treat" },
        h("form", { class: "panel card", onsubmit: (event) => { event.preventDefault(); this.start(); } },
          h("div", { class: "row" }, this.run), this.count,
          reason(advice, dataset),
          this.options),
        h("div", { class: "stack" }, this.study.element, this.models.element)));
    this.chosen();
  }

  /** Treatments of several steps, as they came from elsewhere. */
  setChains(treatments) {
    const chains = treatments.filter((steps) => steps.length > 1 && steps.every((step) => this.names.has(step.name)));
    this.chains.replaceChildren(...chains.map((steps) => {
      const box = h("input", { type: "checkbox", checked: true, onchange: () => this.chosen() });
      box.steps = steps.map(({ name: method, parameters }) => ({ name: method, parameters: withoutSeed(parameters) }));
      return h("label", { class: "tick" }, box, h("b", {}, writeMethod(steps)));
    }));
  }

  get chainsChosen() {
    return [...this.chains.querySelectorAll("input:checked")].map((box) => box.steps);
  }

  /** Let the form stand as it did, unless the address says what is wanted. */
  fill({ recipes, n_folds: folds, random_state: seed, repeats }) {
    if (query().has("classifiers") || query().has("treatments")) return;
    const wish = ({ classifier, parameters }) => ({ name: classifier, parameters });
    this.held = recipes[0].classifier.classifier;
    this.classifiers.set(recipes.map(({ classifier }) => wish(classifier)));
    const treatments = recipes.map(({ treatment }) => fromApi(treatment));
    this.treatments.set(single(treatments));
    this.setChains(unique(treatments));
    [this.repeats.value, this.folds.value, this.seed.value] = [repeats, folds / repeats, seed];
    this.options.open = !isNarrow();  // on a phone what was found comes first
    this.chosen();
  }

  chosen() {
    const names = this.classifiers.names;
    const methods = names.length * (1 + this.treatments.names.length + this.chainsChosen.length);
    const folds = (Number(this.folds.value) || 0) * (Number(this.repeats.value) || 0);
    this.baseline.replaceChildren(...names.map((each) => h("option", { value: each, selected: each === this.held }, `${each}, untreated`)));
    this.count.textContent = methods < 2 ? "Choose a second classifier, or a treatment." : `${counted(methods, "method")} on ${counted(folds, "fold")}: ${counted(methods * folds, "model")} to fit.`;
    this.run.disabled = methods < 2;
  }

  start() {
    const wishes = this.classifiers.wishes();
    const first = wishes.findIndex((wish) => wish.classifier === this.baseline.value);
    const classifiers = [wishes[first], ...wishes.filter((_, at) => at !== first)];
    this.study.begin({
      classifiers, treatments: [...this.treatments.wishes().map((wish) => [wish]), ...this.chainsChosen.map(toApi)],
      folds: Number(this.folds.value), repeats: Number(this.repeats.value), random_state: Number(this.seed.value),
    });
  }

  draw(proof) {
    const differences = new Map(proof.differences.map((one) => [`${one.method}|${one.metric}`, one]));
    const [decisive] = proof.metrics;
    const others = proof.methods.slice(1).map((method) => method.name);
    return [
      h("section", { class: "panel tight" }, h("h2", {}, "Verdict"),
        h("ul", { class: "verdicts", "data-testid": "verdicts" }, proof.verdicts.map((sentence, at) => h("li", {}, change(sentence, differences.get(`${others[at]}|${decisive}`).verdict)))),
        proof.conclusion.map((sentence) => h("p", {}, sentence)),
        h("p", { class: "dim" }, `${others.length === 1 ? "The interval holds" : `Intervals hold for all ${counted(others.length, "method")} at once`} in ${fixed(100 * proof.confidence, 0)} of 100 such comparisons. Labels that are never found count as 0.`)),
      this.methods(proof, differences),
      this.picture(proof),
      this.labels(proof),
      h("details", {}, h("summary", {}, "The same on the command line"), h("pre", { tabindex: "0" }, proof.shell)),
    ];
  }

  methods(proof, differences) {
    const rows = proof.methods.map((method, at) => ({
      class: method.name === proof.best ? "advised" : null,
      cells: [
        [name(method.name), method.name === proof.best ? h("b", {}, " (best mean)") : ""],
        this.models.trainer(method.name, { ...proof.recipes[at], random_state: proof.random_state }),
        ...proof.metrics.map((metric) => {
          const one = differences.get(`${method.name}|${metric}`);
          const mean = h("span", { class: "num" }, fixed(method.means[metric], 3));
          return one ? [mean, " ", change(`${signed(one.difference)} ${wordOf(one.verdict)}`, one.verdict)] : [mean, " ", change("held against", "same")];
        }),
        fixed(method.seconds, 2),
      ],
    }));
    return h("section", { class: "panel" }, h("h2", {}, "Methods"),
      h("p", { class: "dim" }, `Means over ${counted(proof.n_folds, "fold")}, and the change against ${proof.baseline}.`),
      plainTable("Methods on the same folds", [["Method", "text"], ["Model", "text"], ...proof.metrics.map((metric) => [proof.titles[metric], "text"]), ["Seconds a fold", "narrow-hide"]], rows, { "data-testid": "proof", class: "wraps" }));
  }

  picture(proof) {
    const place = h("div");
    const draw = (metric) => place.replaceChildren(intervals({ rows: proof.differences.filter((one) => one.metric === metric), baseline: proof.baseline, metric: proof.titles[metric] }));
    const select = h("select", { "aria-label": "Metric", onchange: () => draw(select.value) }, proof.metrics.map((metric) => h("option", { value: metric }, proof.titles[metric])));
    draw(proof.metrics[0]);
    return h("section", { class: "panel" }, h("div", { class: "row" }, h("h2", {}, "How sure that is"), h("span", { class: "push" }, select)), place);
  }

  labels({ gains, baseline, best }) {
    const methods = Object.keys(gains.after);
    const place = h("div", { class: "stack" });
    const draw = (method) => {
      const rows = gains.label.map((label, at) => ({ label, rows: gains.training_positives[at], before: gains.before[at], after: gains.after[method][at], gain: gains.after[method][at] - gains.before[at] })).sort((a, b) => b.gain - a.gain || b.rows - a.rows);
      const up = rows.filter((row) => row.gain > 0).length;
      const down = rows.filter((row) => row.gain < 0).length;
      const verdict = (gain) => (gain > 0 ? "better" : gain < 0 ? "worse" : "same");
      place.replaceChildren(
        h("p", {}, `${int(up)} of ${counted(rows.length, "label")} ${up === 1 ? "gains" : "gain"} by ${method}, ${int(down)} ${down === 1 ? "loses" : "lose"}.`, gains.n_left_out ? ` ${int(gains.n_left_out)} rarer labels are not shown.` : ""),
        gainsChart({ rows, baseline, method }),
        h("details", {}, h("summary", {}, "As a table"), plainTable("What labels gain", [["Label", "text"], ["Training rows", ""], [`F1 by ${baseline}`, ""], [`F1 by ${method}`, ""], ["Gain", "text"]],
          rows.map((row) => ({ cells: [name(row.label), int(row.rows), fixed(row.before, 3), fixed(row.after, 3), change(row.gain ? `${signed(row.gain)} ${verdict(row.gain)}` : "same", verdict(row.gain))] })))));
    };
    const first = methods.includes(best) ? best : methods[0];
    const select = h("select", { "aria-label": "Method", onchange: () => draw(select.value) }, methods.map((method) => h("option", { value: method, selected: method === first }, method)));
    draw(first);
    return h("section", { class: "panel" }, h("div", { class: "row" }, h("h2", {}, "What labels gain"), h("span", { class: "push" }, select)), place);
  }
}

const single = (treatments) => treatments.filter((steps) => steps.length === 1).flat();
const unique = (treatments) => [...new Map(treatments.map((steps) => [writeMethod(steps), steps])).values()];

/** Seeds are the proof's own. */
function withoutSeed({ random_state: _, ...parameters }) {
  return plainValues(parameters);
}

/** Untreated trees, and what is advised: where that is no single classifier, the one made for rare labels. */
function usual(advice) {
  const chosen = advice?.chosen ?? "rare";
  return chosen.includes(" ") || chosen === "br" ? "br,rare" : `br,${chosen}`;
}

/** Why these are chosen to begin with. */
function reason(advice, dataset) {
  if (!advice) return h("p", { class: "notice" }, "br is a tree for each label, untreated; rare is made for rare labels and did best on public data. ", h("a", { href: `/d/${dataset.id}/advise` }, "Advise"), " tells what is worth trying on this data.");
  return h("p", { class: "notice" }, `Advised for this data: ${advice.chosen}. `, h("a", { href: `/d/${dataset.id}/advise` }, "Why"), ".");
}
