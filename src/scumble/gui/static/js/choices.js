// Several methods to choose among, each with its parameters.

import { h } from "./dom.js";
import { field, input, values } from "./pages/treat.js";

/** A list of ticks by family. `items` are methods of the catalogue, `chosen` has their names and parameters, `key` what a wish calls them. */
export class Choices {
  constructor({ legend, help, items, chosen, key, onchange = () => {} }) {
    Object.assign(this, { items, key, onchange });
    this.known = new Map(items.map((item) => [item.name, item]));
    this.rows = new Map();
    this.families = new Map();
    for (const item of items) this.families.set(item.family, [...(this.families.get(item.family) ?? []), this.row(item)]);
    this.element = h("fieldset", { class: "choices" }, h("legend", {}, legend), help ? h("p", { class: "dim" }, help) : "",
      [...this.families].map(([family, rows]) => h("details", {}, h("summary", {}, family), rows.map((row) => row.element))));
    this.set(chosen);
  }

  row(item) {
    const shown = item.parameters.filter((parameter) => parameter.kind !== "seed");  // one seed for all
    const inputs = new Map(shown.map((parameter) => [parameter.name, input(parameter, this.known, parameter.default)]));
    const fields = h("details", { class: "parameters", hidden: true }, h("summary", {}, "Parameters"), h("div", { class: "fields" }, shown.map((parameter) => field(parameter, inputs.get(parameter.name)))));
    const box = h("input", { type: "checkbox", onchange: () => { this.toggled(item.name); this.onchange(); } });
    const element = h("div", { class: "choice" }, h("label", { class: "tick" }, box, h("span", {}, h("b", {}, item.name), " ", h("span", { class: "dim" }, item.summary))), shown.length ? fields : null);
    this.rows.set(item.name, { name: item.name, parameters: shown, inputs, fields, box, element });
    return this.rows.get(item.name);
  }

  toggled(name) {
    const { box, fields } = this.rows.get(name);
    fields.hidden = !box.checked;
  }

  get names() {
    return this.items.map((item) => item.name).filter((name) => this.rows.get(name).box.checked);
  }

  /** Choose these, with these parameters, and no others; open the families they are in. */
  set(chosen) {
    for (const { name, box, inputs, fields } of this.rows.values()) {
      const wish = chosen.find((each) => each.name === name);
      box.checked = wish !== undefined;
      this.toggled(name);
      for (const [parameter, value] of Object.entries(wish?.parameters ?? {})) {
        const element = inputs.get(parameter);
        if (element?.type === "checkbox") element.checked = ["true", true, "True"].includes(value);
        else if (element) element.value = value;
        if (element) fields.open = true;
      }
    }
    [...this.families.values()].forEach((rows, at) => {
      this.element.querySelectorAll(":scope > details")[at].open = rows.some((row) => row.box.checked);
    });
  }

  tick(names) {
    for (const { name, box } of this.rows.values()) {
      box.checked = names.includes(name);
      this.toggled(name);
    }
    this.onchange();
  }

  /** What was chosen, with the parameters that are not as they come. */
  wishes() {
    return this.names.map((name) => {
      const row = this.rows.get(name);
      const usual = new Map(row.parameters.map((parameter) => [parameter.name, parameter.default]));
      const changed = Object.entries(values(row, row.inputs)).filter(([parameter, value]) => (value ?? null) !== usual.get(parameter));
      return { [this.key]: name, parameters: Object.fromEntries(changed) };
    });
  }
}
