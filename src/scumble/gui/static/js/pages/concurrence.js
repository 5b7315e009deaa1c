import { part } from "../api.js";
import { chordElement, draw, layoutOf, readout, savingChord } from "../chords.js";
import { heatMap } from "../label_charts.js";
import { h, name, say } from "../dom.js";
import { counted, fixed, int, percent, sig } from "../format.js";
import { query, setQuery } from "../router.js";
import { complain } from "../state.js";
import { meter, PagedTable } from "../table.js";

const MANY = 80;

export async function render(dataset) {
  const page = new Concurrence(dataset);
  await page.load();
  return page.element;
}

class Concurrence {
  constructor(dataset) {
    this.dataset = dataset;
    this.names = new Map();
    const given = query().get("labels");
    this.picked = given === null ? null : new Set(given.split(",").filter(Boolean).map(Number));
    const around = query().get("label");
    this.around = around === null ? null : Number(around);
    this.svg = chordElement();
    this.heatFrame = h("div", {});
    this.heat = h("details", { class: "fold", ontoggle: () => this.drawHeat() }, h("summary", {}, "As a heat map: of the instances of a label (row), the part that also has another (column)"), this.heatFrame);
    this.partners = h("section", { class: "panel", "aria-label": "Partners", hidden: true });
    this.note = h("p", { class: "dim" });
    this.chips = h("ul", { class: "chips picks", "aria-label": "Labels in the chord" });
    this.table = new PagedTable({
      path: `/datasets/${part(dataset.id)}/labels`,
      caption: "Choose labels for the chord",
      noun: "label",
      searchTitle: "Search labels",
      pageSize: 25,
      keepInAddress: false,
      csv: false,
      columns: [
        { key: "pick", title: h("span", { class: "visually-hidden" }, "Drawn"), sort: false, class: "pick", render: (row) => this.box(row) },
        { key: "name", title: "Label", text: true, head: true, render: (row) => h("label", { for: `pick-${row.label}` }, name(row.name)) },
        { key: "count", title: "Count", render: (row) => int(row.count) },
        { key: "irlbl", title: "IRLbl", hide: true, render: (row) => sig(row.irlbl, 4) },
        { key: "scumble", title: "SCUMBLE", render: (row) => fixed(row.scumble, 3) },
      ],
      decorate: (element, row) => {
        element.classList.toggle("is-rare", row.is_minority);
        element.classList.toggle("picked", this.drawn.has(row.label));
        this.names.set(row.label, row.name);
      },
    });
    this.drawn = new Set();
    const button = (title, act) => h("button", { type: "button", class: "small", onclick: act }, title);
    this.element = h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Concurrence"), h("span", { class: "dim" }, "Which labels share instances. An arc is as long as its label's count; ribbons join labels that meet.")),
      h("div", { class: "concurrence" },
        h("section", { class: "panel", "aria-label": "Choice of labels" },
          h("div", { class: "row tools" }, button("Most difficult", () => this.choose(null)), button("None", () => this.choose(new Set()))),
          this.chips, this.table.element),
        h("div", { class: "stack" }, h("section", { class: "panel", "aria-label": "Chord diagram" },
          this.svg, readout(this.svg),
          h("div", { class: "row" }, this.note, h("span", { class: "push" }, savingChord(this.svg, "Chord"))), this.heat), this.partners)));
  }

  async load() {
    await Promise.all([this.drawChord(), this.table.load()]);
    if (this.around !== null) await this.showPartners(this.around);
    this.table.draw();
  }

  /** The table of the labels that a label meets, and how often. */
  async showPartners(label) {
    const title = h("h2", {});
    const table = new PagedTable({
      path: `/datasets/${part(this.dataset.id)}/labels/${label}/partners`,
      caption: "Partners of the label", noun: "partner", searchTitle: "Search partners", pageSize: 15, keepInAddress: false,
      columns: [
        { key: "name", title: "Label", text: true, head: true, render: (row) => h("a", { href: `/d/${this.dataset.id}/concurrence?label=${row.label}`, class: "plain" }, name(row.name)) },
        { key: "joint_count", title: "Together", help: "Instances that have both labels.", render: (row) => int(row.joint_count) },
        { key: "share", title: "Share", help: "That many of the instances of the label that was chosen.", render: (row) => meter(percent(row.share), row.share) },
        { key: "count", title: "Count", hide: true, help: "All instances of the partner.", render: (row) => int(row.count) },
        { key: "irlbl", title: "IRLbl", hide: true, help: "How many times rarer the partner is than the most frequent label.", render: (row) => sig(row.irlbl, 4) },
      ],
      decorate: (element, row) => element.classList.toggle("is-rare", row.is_minority),
    });
    await table.load();
    title.replaceChildren("Partners of ", name(this.names.get(label) ?? `label ${label}`));
    this.partners.replaceChildren(title, table.element);
    this.partners.hidden = false;
  }

  look(label) {
    setQuery({ label, labels: [...this.drawn].join(",") }, { replace: true });
    this.picked = new Set(this.drawn);
    this.showPartners(label).catch(complain);
  }

  /** The same labels as a heat map, for who opens it. */
  drawHeat() {
    if (!this.heat.open) return;
    const { arcs, ribbons } = this.layout;
    const joint = arcs.map(() => new Map());
    for (const { source, target, joint_count: count } of ribbons) { joint[source].set(target, count); joint[target].set(source, count); }
    this.heatFrame.replaceChildren(heatMap({ title: "Heat map", names: arcs.map((arc) => arc.name), counts: arcs.map((arc) => arc.count), joint }));
  }

  box(row) {
    return h("input", {
      type: "checkbox", id: `pick-${row.label}`, checked: this.drawn.has(row.label), "aria-label": `Draw ${row.name}`,
      onchange: (event) => this.toggle(row.label, event.target.checked),
    });
  }

  toggle(label, wanted) {
    const next = new Set(this.picked ?? this.drawn);
    if (wanted) next.add(label); else next.delete(label);
    this.choose(next);
  }

  async choose(labels) {
    this.picked = labels;
    this.around = null;
    setQuery({ labels: labels === null ? null : [...labels].join(",") || "," }, { replace: true });
    try {
      await this.drawChord();
    } catch (error) {
      complain(error);
    }
    for (const box of this.table.body.querySelectorAll("input[type=checkbox]")) {
      const label = Number(box.id.slice(5));
      box.checked = this.drawn.has(label);
      box.closest("tr").classList.toggle("picked", box.checked);
    }
  }

  async drawChord() {
    this.abort?.abort();
    this.abort = new AbortController();
    let layout;
    try {
      layout = await layoutOf(this.dataset.id, this.picked === null ? null : [...this.picked], { signal: this.abort.signal, around: this.around });
    } catch (error) {
      if (error.name === "AbortError") return;
      throw error;
    }
    for (const arc of layout.arcs) this.names.set(arc.label, arc.name);
    this.drawn = this.picked ?? new Set(layout.arcs.map((arc) => arc.label));
    const began = performance.now();
    this.layout = layout;
    this.drawHeat();
    draw(this.svg, layout, { onSelect: (arc) => this.look(arc.label) });
    performance.measure("chord", { start: began, end: performance.now(), detail: layout.ribbons.length });
    const hidden = this.drawn.size - layout.arcs.length;
    this.note.textContent = this.drawn.size ? `${layout.note}${hidden ? ` ${counted(hidden, "chosen label")} never occur${hidden === 1 ? "s" : ""}.` : ""}` : "Pick labels in the table.";
    say(this.note.textContent);
    this.drawChips();
  }

  drawChips() {
    const labels = [...this.drawn];
    this.chips.replaceChildren(...labels.slice(0, MANY).map((label) => {
      const text = this.names.get(label) ?? `label ${label}`;
      return h("li", { class: "chip" }, name(text), h("button", { type: "button", "aria-label": `Remove ${text}`, onclick: () => this.toggle(label, false) }, "×"));
    }), labels.length > MANY ? h("li", { class: "dim" }, `and ${int(labels.length - MANY)} more`) : "");
  }
}
