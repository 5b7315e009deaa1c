import { encode } from "../api.js";
import { chordElement, chordSaveButtons, drawFitted, fetchLayout, readout } from "../chords.js";
import { heatMap } from "../label_charts.js";
import { announce, h, nameElement } from "../dom.js";
import { fixed, int, percent, pluralize, significant } from "../format.js";
import { query, setQuery } from "../router.js";
import { showError } from "../state.js";
import { meter, PagedTable } from "../table.js";

const MAX_CHIPS = 80;  // labels listed above the table

/** Render the page of the chord diagram. */
export async function render(dataset) {
  const page = new Concurrence(dataset);
  await page.load();
  return page.element;
}

/** The chord diagram with its table of labels. */
class Concurrence {
  constructor(dataset) {
    this.dataset = dataset;
    this.names = new Map();
    const selectedText = query().get("labels");
    this.selected = selectedText === null ? null : new Set(selectedText.split(",").filter(Boolean).map(Number));
    const around = query().get("label");
    this.around = around === null ? null : Number(around);
    this.svg = chordElement();
    this.heatFrame = h("div", {});
    this.heat = h("details", { class: "fold", ontoggle: () => this.drawHeat() }, h("summary", {}, "Show as heat map: share of the instances of a label (row) that also have another label (column)"), this.heatFrame);
    this.partners = h("section", { class: "panel", "aria-label": "Co-occurrence", hidden: true });
    this.note = h("p", { class: "dim" });
    this.chips = h("ul", { class: "chips picks", "aria-label": "Labels in the chord diagram" });
    this.table = new PagedTable({
      path: `/datasets/${encode(dataset.id)}/labels`,
      caption: "Select labels for the chord diagram",
      noun: "label",
      searchTitle: "Search labels",
      pageSize: 25,
      keepInAddress: false,
      csv: false,
      columns: [
        { key: "pick", title: h("span", { class: "visually-hidden" }, "Selected"), sort: false, class: "pick", render: (row) => this.checkBox(row) },
        { key: "name", title: "Label", text: true, head: true, render: (row) => h("label", { for: `pick-${row.label}` }, nameElement(row.name)) },
        { key: "count", title: "Count", render: (row) => int(row.count) },
        { key: "irlbl", title: "IRLbl", hide: true, render: (row) => significant(row.irlbl, 4) },
        { key: "scumble", title: "SCUMBLE", render: (row) => fixed(row.scumble, 3) },
      ],
      decorate: (element, row) => {
        element.classList.toggle("is-rare", row.is_minority);
        element.classList.toggle("picked", this.drawn.has(row.label));
        this.names.set(row.label, row.name);
      },
    });
    this.drawn = new Set();
    const button = (title, onclick) => h("button", { type: "button", class: "small", onclick }, title);
    this.element = h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Concurrence"), h("span", { class: "dim" }, "Which labels share instances. The length of an arc is the count of its label; ribbons join labels that co-occur.")),
      h("div", { class: "concurrence" },
        h("section", { class: "panel", "aria-label": "Selection of labels" },
          h("div", { class: "row tools" }, button("Most difficult", () => this.choose(null)), button("None", () => this.choose(new Set()))),
          this.chips, this.table.element),
        h("div", { class: "stack" }, h("section", { class: "panel", "aria-label": "Chord diagram" },
          this.svg, readout(this.svg),
          h("div", { class: "row" }, this.note, h("span", { class: "push" }, chordSaveButtons(this.svg, "Chord"))), this.heat), this.partners)));
  }

  /** Load the diagram and the table. */
  async load() {
    await Promise.all([this.drawChord(), this.table.load()]);
    if (this.around !== null) await this.showPartners(this.around);
    this.table.draw();
  }

  /** Show the table of the labels that co-occur with a label. */
  async showPartners(label) {
    const title = h("h2", {});
    const table = new PagedTable({
      path: `/datasets/${encode(this.dataset.id)}/labels/${label}/partners`,
      caption: "Co-occurring labels", noun: "label", searchTitle: "Search co-occurring labels", pageSize: 15, keepInAddress: false,
      columns: [
        { key: "name", title: "Label", text: true, head: true, render: (row) => h("a", { href: `/d/${this.dataset.id}/concurrence?label=${row.label}`, class: "plain" }, nameElement(row.name)) },
        { key: "joint_count", title: "Together", help: "Instances that have both labels.", render: (row) => int(row.joint_count) },
        { key: "share", title: "Share", help: "Share of the instances of the selected label that also have this label.", render: (row) => meter(percent(row.share), row.share) },
        { key: "count", title: "Count", hide: true, help: "All instances of this label.", render: (row) => int(row.count) },
        { key: "irlbl", title: "IRLbl", hide: true, help: "How many times rarer this label is than the most frequent label.", render: (row) => significant(row.irlbl, 4) },
      ],
      decorate: (element, row) => element.classList.toggle("is-rare", row.is_minority),
    });
    await table.load();
    title.replaceChildren("Labels co-occurring with ", nameElement(this.names.get(label) ?? `label ${label}`));
    this.partners.replaceChildren(title, table.element);
    this.partners.hidden = false;
  }

  /** Show what co-occurs with a label, and keep it in the address. */
  showLabel(label) {
    setQuery({ label, labels: [...this.drawn].join(",") }, { replace: true });
    this.selected = new Set(this.drawn);
    this.showPartners(label).catch(showError);
  }

  /** Draw the labels of the diagram as a heat map, if it is open. */
  drawHeat() {
    if (!this.heat.open) return;
    const { arcs, ribbons } = this.layout;
    const joint = arcs.map(() => new Map());
    for (const { source, target, joint_count: count } of ribbons) { joint[source].set(target, count); joint[target].set(source, count); }
    this.heatFrame.replaceChildren(heatMap({ title: "Heat map", names: arcs.map((arc) => arc.name), counts: arcs.map((arc) => arc.count), joint }));
  }

  /** Create the check box that adds a label to the diagram. */
  checkBox(row) {
    return h("input", {
      type: "checkbox", id: `pick-${row.label}`, checked: this.drawn.has(row.label), "aria-label": `Draw ${row.name}`,
      onchange: (event) => this.toggle(row.label, event.target.checked),
    });
  }

  /** Add a label to the diagram, or remove it. */
  toggle(label, isSelected) {
    const next = new Set(this.selected ?? this.drawn);
    if (isSelected) next.add(label); else next.delete(label);
    this.choose(next);
  }

  /** Draw these labels; null stands for the most difficult ones. */
  async choose(labels) {
    this.selected = labels;
    this.around = null;
    setQuery({ labels: labels === null ? null : [...labels].join(",") || "," }, { replace: true });
    try {
      await this.drawChord();
    } catch (error) {
      showError(error);
    }
    for (const box of this.table.body.querySelectorAll("input[type=checkbox]")) {
      const label = Number(box.id.slice(5));
      box.checked = this.drawn.has(label);
      box.closest("tr").classList.toggle("picked", box.checked);
    }
  }

  /** Load the layout of the selected labels and draw it. */
  async drawChord() {
    this.abort?.abort();
    this.abort = new AbortController();
    let layout;
    try {
      layout = await fetchLayout(this.dataset.id, this.selected === null ? null : [...this.selected], { signal: this.abort.signal, around: this.around });
    } catch (error) {
      if (error.name === "AbortError") return;
      throw error;
    }
    for (const arc of layout.arcs) this.names.set(arc.label, arc.name);
    this.drawn = this.selected ?? new Set(layout.arcs.map((arc) => arc.label));
    const startTime = performance.now();
    this.layout = layout;
    this.drawHeat();
    drawFitted(this.svg, layout, { onSelect: (arc) => this.showLabel(arc.label) });
    performance.measure("chord", { start: startTime, end: performance.now(), detail: layout.ribbons.length });
    const hidden = this.drawn.size - layout.arcs.length;
    this.note.textContent = this.drawn.size ? layout.note : "Select labels in the table.";
    if (hidden) this.note.append(` ${pluralize(hidden, "selected label")} never occur${hidden === 1 ? "s" : ""}.`);
    announce(this.note.textContent);
    this.drawChips();
  }

  /** List the labels of the diagram. */
  drawChips() {
    const labels = [...this.drawn];
    this.chips.replaceChildren(...labels.slice(0, MAX_CHIPS).map((label) => {
      const text = this.names.get(label) ?? `label ${label}`;
      return h("li", { class: "chip" }, nameElement(text), h("button", { type: "button", "aria-label": `Remove ${text}`, onclick: () => this.toggle(label, false) }, "×"));
    }), labels.length > MAX_CHIPS ? h("li", { class: "dim" }, `and ${int(labels.length - MAX_CHIPS)} more`) : "");
  }
}
