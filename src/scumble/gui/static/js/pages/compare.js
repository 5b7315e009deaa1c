import { catalogue, encode, get } from "../api.js";
import { isNarrow } from "../charts.js";
import { MethodChoices } from "../choices.js";
import { h, nameElement } from "../dom.js";
import { fixed, int, pluralize } from "../format.js";
import { gainsChart, intervals } from "../gains.js";
import { formatMethod, fromApi, parseMethods, parseValues, toApi } from "../methods.js";
import { Models } from "../models.js";
import { query } from "../router.js";
import { changeMark, noticeIfResampled, plainTable, progressOf, signed, Study } from "../study.js";

/** Return the text of a verdict. */
const verdictText = (verdict) => ({ better: "better", worse: "worse" })[verdict] ?? "may be chance";

/** Render the page that compares methods by cross-validation. */
export async function render(dataset) {
  const notice = noticeIfResampled(dataset, "compare", "Compare");
  if (notice) return notice;
  const [catalogueEntries, { job: advice }] = await Promise.all([catalogue(), get(`/datasets/${encode(dataset.id)}/advice`)]);
  const page = new Compare(dataset, catalogueEntries, advice?.result ?? null);
  const [last] = await Promise.all([page.study.restore(), page.models.load()]);
  if (last) page.fill(last);
  return page.element;
}

/** The form of a comparison, its result and the models. */
class Compare {
  constructor(dataset, { classifiers, methods }, advice) {
    this.dataset = dataset;
    const parseQuery = (key, defaultText) => parseMethods(query().get(key) ?? defaultText);
    const treatments = parseQuery("treatments", "");
    this.names = new Set(methods.map((method) => method.name));
    const number = (value, min, max) => h("input", { type: "number", min, max, step: 1, value, required: true });
    this.run = h("button", { class: "primary" }, "Compare");
    this.count = h("p", { class: "dim", "aria-live": "polite", "data-testid": "count" });
    this.classifiers = new MethodChoices({ legend: "Classifiers", items: classifiers, selected: parseQuery("classifiers", defaultClassifiers(advice)).flat(), nameKey: "classifier", onchange: () => this.updateCount() });
    this.treatments = new MethodChoices({ legend: "Treatments", help: "Applied to the training parts only. Each classifier is also evaluated untreated.", items: methods, selected: singleSteps(treatments), nameKey: "method", onchange: () => this.updateCount() });
    this.chains = h("div");
    this.setChains(treatments);
    this.baseline = h("select", { onchange: () => { this.baselineName = this.baseline.value; } });
    this.baselineName = "br";
    this.repeats = number(2, 1, 10);
    this.folds = number(5, 2, 20);
    this.seed = number(0, 0);
    for (const input of [this.repeats, this.folds]) input.addEventListener("input", () => this.updateCount());
    this.models = new Models(dataset);
    this.study = new Study({ dataset, kind: "comparison", button: this.run, noun: progressOf("folds evaluated"), draw: (comparison) => this.draw(comparison) });
    const field = (title, element) => h("label", { class: "field" }, h("span", {}, title), element);
    this.options = h("details", { open: true }, h("summary", {}, "Options"), h("div", { class: "tight" }, this.classifiers.element, this.treatments.element, this.chains,
      h("div", { class: "fields" }, field("Baseline", this.baseline), field("Folds", this.folds), field("Repetitions", this.repeats), field("Seed", this.seed))));
    this.element = h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Compare"), h("span", { class: "dim" }, "Does a method help on this data? Classifiers with and without treatments, evaluated on the same folds.")),
      h("div", { class: "treat" },
        h("form", { class: "panel card", onsubmit: (event) => { event.preventDefault(); this.start(); } },
          h("div", { class: "row" }, this.run), this.count,
          recommendation(advice, dataset),
          this.options),
        h("div", { class: "stack" }, this.study.element, this.models.element)));
    this.updateCount();
  }

  /** Add check boxes for treatments of several steps, which other pages link to. */
  setChains(treatments) {
    const chains = treatments.filter((steps) => steps.length > 1 && steps.every((step) => this.names.has(step.name)));
    this.chains.replaceChildren(...chains.map((steps) => {
      const box = h("input", { type: "checkbox", checked: true, onchange: () => this.updateCount() });
      box.steps = steps.map(({ name: method, parameters }) => ({ name: method, parameters: withoutSeed(parameters) }));
      return h("label", { class: "tick" }, box, h("b", {}, formatMethod(steps)));
    }));
  }

  /** The selected treatments of several steps. */
  get selectedChains() {
    return [...this.chains.querySelectorAll("input:checked")].map((box) => box.steps);
  }

  /** Fill the form with the options of the last comparison, unless the address has other ones. */
  fill({ recipes, n_folds: folds, random_state: seed, repeats }) {
    if (query().has("classifiers") || query().has("treatments")) return;
    const toSelection = ({ classifier, parameters }) => ({ name: classifier, parameters });
    this.baselineName = recipes[0].classifier.classifier;
    this.classifiers.select(recipes.map(({ classifier }) => toSelection(classifier)));
    const treatments = recipes.map(({ treatment }) => fromApi(treatment));
    this.treatments.select(singleSteps(treatments));
    this.setChains(distinct(treatments));
    this.repeats.value = repeats;
    this.folds.value = folds / repeats;
    this.seed.value = seed;
    this.options.open = !isNarrow();  // on a phone the result comes first
    this.updateCount();
  }

  /** Update the number of models to fit, and the choice of baselines. */
  updateCount() {
    const names = this.classifiers.names;
    const methods = names.length * (1 + this.treatments.names.length + this.selectedChains.length);
    const folds = (Number(this.folds.value) || 0) * (Number(this.repeats.value) || 0);
    this.baseline.replaceChildren(...names.map((name) => h("option", { value: name, selected: name === this.baselineName }, `${name}, untreated`)));
    this.count.textContent = methods < 2 ? "Select a second classifier or a treatment." : `${pluralize(methods, "method")} on ${pluralize(folds, "fold")}: ${pluralize(methods * folds, "model")} to fit.`;
    this.run.disabled = methods < 2;
  }

  /** Start the comparison. */
  start() {
    const classifierSelections = this.classifiers.selections();
    const first = classifierSelections.findIndex((selection) => selection.classifier === this.baseline.value);
    const classifiers = [classifierSelections[first], ...classifierSelections.filter((_, index) => index !== first)];
    this.study.start({
      classifiers, treatments: [...this.treatments.selections().map((selection) => [selection]), ...this.selectedChains.map(toApi)],
      folds: Number(this.folds.value), repeats: Number(this.repeats.value), random_state: Number(this.seed.value),
    });
  }

  /** Draw the result. */
  draw(comparison) {
    const differences = new Map(comparison.differences.map((difference) => [`${difference.method}|${difference.metric}`, difference]));
    const [decisive] = comparison.metrics;
    const otherNames = comparison.methods.slice(1).map((method) => method.name);
    return [
      h("section", { class: "panel tight" }, h("h2", {}, "Verdict"),
        h("ul", { class: "verdicts", "data-testid": "verdicts" }, comparison.verdicts.map((sentence, index) => h("li", {}, changeMark(sentence, differences.get(`${otherNames[index]}|${decisive}`).verdict)))),
        comparison.conclusion.map((sentence) => h("p", {}, sentence)),
        h("p", { class: "dim" }, `${otherNames.length === 1 ? "The interval holds" : `Intervals hold for all ${pluralize(otherNames.length, "method")} at once`} in ${fixed(100 * comparison.confidence, 0)} of 100 such comparisons. F1 of labels that are never predicted counts as 0.`)),
      this.methods(comparison, differences),
      this.picture(comparison),
      this.labels(comparison),
      h("details", {}, h("summary", {}, "Command line"), h("pre", { tabindex: "0" }, comparison.shell)),
    ];
  }

  /** Draw the table of methods. */
  methods(comparison, differences) {
    const rows = comparison.methods.map((method, index) => ({
      class: method.name === comparison.best ? "advised" : null,
      cells: [
        [nameElement(method.name), method.name === comparison.best ? h("b", {}, " (best mean)") : ""],
        this.models.trainButton(method.name, { ...comparison.recipes[index], random_state: comparison.random_state }),
        ...comparison.metrics.map((metric) => {
          const difference = differences.get(`${method.name}|${metric}`);
          const mean = h("span", { class: "num" }, fixed(method.means[metric], 3));
          return difference ? [mean, " ", changeMark(`${signed(difference.difference)} ${verdictText(difference.verdict)}`, difference.verdict)] : [mean, " ", changeMark("baseline", "same")];
        }),
        fixed(method.seconds, 2),
      ],
    }));
    return h("section", { class: "panel" }, h("h2", {}, "Methods"),
      h("p", { class: "dim" }, `Means over ${pluralize(comparison.n_folds, "fold")}, and the change against ${comparison.baseline}.`),
      plainTable("Methods on the same folds", [["Method", "text"], ["Model", "text"], ...comparison.metrics.map((metric) => [comparison.titles[metric], "text"]), ["Seconds per fold", "narrow-hide"]], rows, { "data-testid": "comparison", class: "wraps" }));
  }

  /** Draw the differences to the baseline with their intervals. */
  picture(comparison) {
    const container = h("div");
    const draw = (metric) => container.replaceChildren(intervals({ rows: comparison.differences.filter((difference) => difference.metric === metric), baseline: comparison.baseline, metric: comparison.titles[metric] }));
    const select = h("select", { "aria-label": "Metric", onchange: () => draw(select.value) }, comparison.metrics.map((metric) => h("option", { value: metric }, comparison.titles[metric])));
    draw(comparison.metrics[0]);
    return h("section", { class: "panel" }, h("div", { class: "row" }, h("h2", {}, "Confidence intervals"), h("span", { class: "push" }, select)), container);
  }

  /** Draw F1 of each label before and after. */
  labels({ gains, baseline, best }) {
    const methods = Object.keys(gains.after);
    const container = h("div", { class: "stack" });
    const draw = (method) => {
      const rows = gains.label.map((label, index) => ({ label, rows: gains.training_positives[index], before: gains.before[index], after: gains.after[method][index], gain: gains.after[method][index] - gains.before[index] })).sort((a, b) => b.gain - a.gain || b.rows - a.rows);
      const up = rows.filter((row) => row.gain > 0).length;
      const down = rows.filter((row) => row.gain < 0).length;
      container.replaceChildren(
        h("p", {}, `${int(up)} of ${pluralize(rows.length, "label")} ${up === 1 ? "gains" : "gain"} by ${method}, ${int(down)} ${down === 1 ? "loses" : "lose"}.`, gains.n_left_out ? ` ${int(gains.n_left_out)} rarer labels are not shown.` : ""),
        gainsChart({ rows, baseline, method }),
        h("details", {}, h("summary", {}, "Show as table"), plainTable("Change of each label", [["Label", "text"], ["Training rows", ""], [`F1 by ${baseline}`, ""], [`F1 by ${method}`, ""], ["Gain", "text"]],
          rows.map((row) => ({ cells: [nameElement(row.label), int(row.rows), fixed(row.before, 3), fixed(row.after, 3), changeMark(row.gain ? `${signed(row.gain)} ${gainVerdict(row.gain)}` : "same", gainVerdict(row.gain))] })))));
    };
    const first = methods.includes(best) ? best : methods[0];
    const select = h("select", { "aria-label": "Method", onchange: () => draw(select.value) }, methods.map((method) => h("option", { value: method, selected: method === first }, method)));
    draw(first);
    return h("section", { class: "panel" }, h("div", { class: "row" }, h("h2", {}, "Change of each label"), h("span", { class: "push" }, select)), container);
  }
}

/** Return the verdict on the gain of a label. */
function gainVerdict(gain) {
  if (gain > 0) return "better";
  return gain < 0 ? "worse" : "same";
}

/** Return the treatments of one step. */
const singleSteps = (treatments) => treatments.filter((steps) => steps.length === 1).flat();
/** Return treatments without duplicates. */
const distinct = (treatments) => [...new Map(treatments.map((steps) => [formatMethod(steps), steps])).values()];

/** Parse parameters, without the seed: the comparison has one seed for all methods. */
function withoutSeed({ random_state: _, ...parameters }) {
  return parseValues(parameters);
}

/** Return the default classifiers: untreated trees, and the recommended classifier, or `rare` if a combination is recommended. */
function defaultClassifiers(advice) {
  const recommended = advice?.chosen ?? "rare";
  return recommended.includes(" ") || recommended === "br" ? "br,rare" : `br,${recommended}`;
}

/** Show why these classifiers are selected by default. */
function recommendation(advice, dataset) {
  if (!advice) return h("p", { class: "notice" }, "br fits one tree per label, untreated. rare is designed for rare labels and scored best on public data sets. ", h("a", { href: `/d/${dataset.id}/advise` }, "Advise"), " shows which methods to try on this data.");
  return h("p", { class: "notice" }, `Recommended for this data: ${advice.chosen}. `, h("a", { href: `/d/${dataset.id}/advise` }, "Details"), ".");
}
