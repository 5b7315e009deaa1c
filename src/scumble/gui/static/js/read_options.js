// What a file does not say itself: how it is written, and what its columns are for.

import { catalogue, follow, post } from "./api.js";
import { h, name } from "./dom.js";
import { counted, parseLabels } from "./format.js";

const ROLES = { label: "label", list: "list of labels", number: "number", category: "category", text: "text", ignore: "ignore" };
const WRITTEN = {
  delimiter: ["Separator", [[",", "comma ,"], [";", "semicolon ;"], ["\t", "tab"], ["|", "bar |"], [":", "colon :"]]],
  decimal: ["Decimal sign", [[".", "point ."], [",", "comma ,"]]],
  encoding: ["Encoding", [["utf-8", "UTF-8"], ["utf-16", "UTF-16"], ["cp1252", "Windows-1252"], ["cp1250", "Windows-1250"], ["cp1251", "Windows-1251"], ["shift_jis", "Shift JIS"], ["gb18030", "GB 18030"], ["big5", "Big5"], ["euc_kr", "EUC-KR"]]],
  header: ["First row", [["true", "names"], ["false", "values"]]],
};
const CHOOSE = "Several files of this archive hold data. Choose one of them.";
const SAID = ["keep", "category", "text", "ignore"];  // options that name columns
const MISSING = "No column is a label yet. Choose 'label' above columns of 0 and 1, or 'list of labels' above one that names them.";

const field = (title, input, more) => h("label", { class: "field", ...more }, h("span", {}, title), input);

export class Asking {
  /** `given` are options that are known already, as from the command line; `submit` gets all of them. */
  constructor({ upload, title, given = {}, submit, dismiss }) {
    Object.assign(this, { upload, title, given, preview: null, heads: null, member: null, turn: 0 });
    this.settings = Object.fromEntries(["format", "member", ...Object.keys(WRITTEN)].filter((key) => key in given).map((key) => [key, given[key]]));
    this.told = h("div", { hidden: true });
    this.fields = h("div", { class: "fields five" });
    this.part = h("div", { class: "card" });
    this.open = h("button", { class: "primary" }, "Open");
    this.element = h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); this.submit(submit); } },
      this.told, this.fields, this.part, h("div", { class: "row" }, this.open, dismiss));
    this.format = h("select", { name: "format", onchange: () => this.set("format", this.format.value) }, h("option", { value: "" }, "find out"));
    catalogue().then(({ formats }) => this.format.append(...formats.map((each) => h("option", { value: each.name, selected: each.name === this.settings.format }, each.title)))).catch(() => {});
    this.fields.append(field("Format", this.format));
  }

  complain(message) {
    this.told.replaceChildren(message ? h("p", { class: "notice bad", role: "alert" }, message) : "");
    this.told.hidden = !message;
    if (message) this.open.textContent = "Try again";
  }

  set(key, value) {
    if (value === "") delete this.settings[key];
    else this.settings[key] = key === "header" ? value === "true" : value;
    return this.refresh();
  }

  /** Of an archive in which several files hold data, let one be chosen. */
  async findMembers() {
    if (this.member || !/\.zip$/i.test(this.title)) return;
    this.job = await post(`/uploads/${this.upload}/members`);
    const { members, taken } = (await follow(this.job)).result;
    if (members.length < 2 || this.member) return;
    const chosen = this.settings.member ?? taken ?? "";
    const named = [...(chosen ? [] : [["", "choose one"]]), ...members.map((each) => [each, each])];
    this.member = h("select", { name: "member", onchange: () => this.set("member", this.member.value) }, named.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
    this.fields.append(field("File in the archive", this.member, { class: "field two" }));
  }

  /** Look at the file with the settings as they are; what was chosen for columns stays where it can. */
  async refresh() {
    const mine = ++this.turn;
    this.part.setAttribute("aria-busy", "true");
    this.open.disabled = true;  // what is shown is not what would be opened
    try {
      await this.findMembers();
      if (mine !== this.turn) return;
      if (this.member?.value === "") throw new Error(CHOOSE);
      this.job = await post(`/uploads/${this.upload}/preview`, this.settings);
      const job = await follow(this.job);
      if (mine !== this.turn) return;
      this.complain("");
      this.show(job.result);
    } catch (error) {
      if (mine !== this.turn) return;
      this.complain(error.message);
      this.show(null);
    } finally {
      if (mine === this.turn) {
        this.part.removeAttribute("aria-busy");
        this.open.disabled = false;
      }
    }
  }

  /** Show a preview; without one, only what can be said in general. */
  show(preview) {
    this.preview = preview;
    this.showWritten();
    if (preview !== null && !preview.asks) { this.showGeneral(); return; }
    if (preview === null) { this.part.replaceChildren(); return; }
    this.showTable();
  }

  showWritten() {
    const focused = document.activeElement?.name;
    const isText = this.preview === null ? (this.settings.format ?? "csv") === "csv" : this.preview.delimiter !== null;
    const selects = Object.entries(isText ? WRITTEN : {}).map(([key, [title, choices]]) => {
      const value = String(this.settings[key] ?? this.preview?.[key] ?? "");
      const known = choices.some(([each]) => each === value) || value === "" ? choices : [...choices, [value, value]];
      return field(title, h("select", { name: key, onchange: (event) => this.set(key, event.target.value) },
        [["", "find out"], ...known].map(([each, words]) => h("option", { value: each, selected: each === value }, words))));
    });
    while (this.fields.childElementCount > (this.member ? 2 : 1)) this.fields.lastChild.remove();
    this.fields.append(...selects);
    if (focused in WRITTEN) this.fields.querySelector(`[name=${focused}]`)?.focus();
  }

  /** For files that are no plain tables: labels in words. */
  showGeneral() {
    const before = { labels: this.labels?.value, label_column: this.column?.value, label_separator: this.separator?.value };
    const text = (key, more) => h("input", { type: "text", name: key, value: before[key] ?? this.given[key] ?? "", ...more });
    this.labels = text("labels", { placeholder: "-5, or: sun, sea, or: 3,4" });
    this.column = text("label_column");
    this.separator = text("label_separator", { placeholder: "|" });
    this.part.replaceChildren(
      h("p", { class: "dim" }, "Say more about the file and try again. Labels: a count (negative: from the end), names, or column numbers from 0."),
      h("div", { class: "fields" }, field("Label columns", this.labels, { class: "field two" }), field("Column of label lists", this.column), field("Separator in lists", this.separator)));
  }

  /** What was chosen in a table of as many columns stays, where it is not as it was guessed. */
  showTable() {
    const { columns, rows, n_columns, separator } = this.preview;
    const isFirst = this.heads === null;
    const before = this.width === n_columns ? { heads: this.heads, labels: this.labels.value, separator: this.separator.value, ...this.guessed } : null;
    this.width = n_columns;
    this.heads = new Map(columns.map((column) => [column.at, this.head(column, before?.heads.get(column.at))]));
    this.separator = h("input", { type: "text", name: "label_separator", size: 6, value: (isFirst ? this.given.label_separator : null) ?? (before && before.separator !== before.guess ? before.separator : separator), placeholder: "in brackets" });
    this.separated = field("Between labels", this.separator);
    this.labels = h("input", { type: "text", name: "labels", onchange: () => this.readLabels(), placeholder: "-5, or: sun, sea, or: 3,4" });
    this.status = h("p", { class: "dim", role: "status" });
    this.others = h("input", { type: "checkbox", checked: this.others?.checked ?? true, onchange: () => this.tell() });
    this.cells = rows.map((row) => row.map((cell) => h("td", { class: "text" }, cell)));
    const gaps = columns.map(({ at }, place) => at - (place ? columns[place - 1].at + 1 : 0));
    const spread = (parts, between) => parts.flatMap((part, place) => gaps[place] ? [between(gaps[place]), part] : [part]);
    this.part.replaceChildren(
      h("div", { class: "table-wrap preview", tabindex: "0", role: "region", "aria-label": `The first rows of ${this.title}` }, h("table", {},
        h("thead", {}, h("tr", {}, spread([...this.heads.values()].map(({ cell }) => cell), (gap) => h("th", { class: "dim" }, `… ${counted(gap, "more column")} …`)))),
        h("tbody", {}, this.cells.map((cells) => h("tr", {}, spread(cells, () => h("td", {}))))))),
      h("div", { class: "fields" }, field("Label columns", this.labels, { class: "field two" }), this.separated),
      ...this.otherColumns(), this.status);
    if (isFirst) this.useRoles();
    this.startLabels();
    this.guessed = { guess: separator, spelled: this.labels.value };
    if (isFirst) this.useLabels();
    if (before && before.labels !== before.spelled) { this.labels.value = before.labels; this.readLabels(); }
    this.tell();
  }

  head(column, before) {
    const title = column.name || `column ${column.at}`;
    const chosen = before && before.select.value !== before.column.role ? before.select.value : column.role;
    const select = h("select", { "aria-label": `Role of ${title}`, onchange: () => this.changed(column.at) },
      Object.entries(ROLES).map(([role, words]) => h("option", { value: role, selected: role === (column.roles.includes(chosen) ? chosen : column.role), disabled: !column.roles.includes(role) }, words)));
    return { column, select, cell: h("th", { scope: "col", class: "text" }, name(title), select, h("small", { class: "dim" }, column.why)) };
  }

  /** The columns that an option of the command line names; a text may name several, with commas between. */
  said(key) {
    const { columns, n_columns } = this.preview;
    const listed = Array.isArray(this.given[key]) ? this.given[key] : [];
    return listed.map((each) => {
      if (Number.isInteger(each)) return { each, named: [each < 0 ? each + n_columns : each] };
      const text = String(each);  // a column may be called 1.5
      return { each: text, named: columns.some(({ name }) => name === text) ? [text] : text.split(",").map((part) => part.trim()) };
    });
  }

  /** What an option of the command line says of columns that are not shown. */
  saidOfOthers(key) {
    const isHidden = (one) => !this.preview.columns.some(({ at, name }) => [at, name].includes(one));
    return this.said(key).flatMap(({ each, named }) => named.every(isHidden) ? [each] : named.filter(isHidden));
  }

  /** The same, unless it was given up. */
  besides(key) {
    return this.others.checked ? this.saidOfOthers(key) : [];
  }

  /** Take what was said on the command line about attributes. */
  useRoles() {
    const asked = SAID.map((key) => [key, new Set(this.said(key).flatMap(({ named }) => named))]);
    for (const { column, select } of this.heads.values()) {
      for (const [key, columns] of asked) {
        const role = key === "keep" ? plain({ ...column, role: column.role === "ignore" ? "label" : column.role }) : key;
        const isMeant = columns.has(column.name) || columns.has(column.at) || (key === "keep" && this.given.keep === true && column.role === "ignore");
        if (isMeant && column.roles.includes(role)) select.value = role;
      }
    }
  }

  /** Tell what is passed on though its columns are not shown, and let it be given up. */
  otherColumns() {
    const told = SAID.map((key) => [key, this.saidOfOthers(key)]).filter(([, columns]) => columns.length);
    if (!told.length) return [];
    return [h("label", { class: "tick" }, this.others, h("span", {}, "As the command line says of columns that are not shown: ",
      told.map(([key, columns], at) => [at ? "; " : "", `${key} `, columns.map((each, place) => [place ? ", " : "", name(String(each))])])))];
  }

  /** Take the labels of the command line in place of those that are guessed. */
  useLabels() {
    const { labels, label_column: column } = this.given;
    const list = [...this.heads.values()].find((head) => column !== undefined && [head.column.name, head.column.at].includes(column));
    if (list?.column.roles.includes("list")) {
      list.select.value = "list";
      this.changed(list.column.at);
    } else if (labels !== undefined) {
      this.labels.value = Array.isArray(labels) ? labels.join(", ") : labels;
      this.readLabels();
    }
  }

  startLabels() {
    const shown = [...this.heads.values()];
    const hidden = this.preview.labels.filter((at) => !this.heads.has(at));
    this.chosen = new Set([...shown.filter(({ select }) => select.value === "label").map(({ column }) => column.at), ...hidden]);
    this.labels.value = this.spell();
  }

  /** Labels and a list exclude each other: what is chosen last stays. */
  changed(at) {
    const { select, column } = this.heads.get(at);
    for (const other of this.heads.values()) {
      const isOther = select.value === "list" ? ["label", "list"] : select.value === "label" ? ["list"] : [];
      if (other.column.at !== at && isOther.includes(other.select.value)) other.select.value = plain(other.column);
    }
    if (select.value === "list") this.chosen.clear();
    if (select.value === "label") this.chosen.add(at);
    else { this.chosen.delete(at); this.chosen.delete(column.name); }
    this.labels.value = this.spell();
    this.tell();
  }

  /** Let the heads follow what was typed. */
  readLabels() {
    const { n_columns } = this.preview;
    const typed = parseLabels(this.labels.value);
    const byName = new Map([...this.heads.values()].map(({ column }) => [column.name, column.at]));
    const count = Number.isInteger(typed) ? Math.min(Math.abs(typed), n_columns) : 0;
    const numbers = Number.isInteger(typed) ? Array.from({ length: count }, (_, at) => (typed < 0 ? n_columns - count + at : at)) : (typed ?? []);
    this.chosen = new Set(numbers.map((each) => byName.get(each) ?? each));
    for (const { column, select } of this.heads.values()) {
      if (this.chosen.has(column.at)) select.value = "label";
      else if (select.value === "label" || (this.chosen.size && select.value === "list")) select.value = plain(column);
    }
    this.tell();
  }

  /** Write the labels as they may be typed: names, or a count of many, or numbers. */
  spell() {
    const { n_columns } = this.preview;
    const all = [...this.chosen];
    const places = all.filter(Number.isInteger).sort((a, b) => a - b);
    const keys = places.map((at) => this.heads.get(at)?.column.key);
    if (keys.every((key) => typeof key === "string") && (all.length <= 12 || places.length < all.length)) return [...keys, ...all.filter((each) => !Number.isInteger(each))].join(", ");
    const isRun = places.at(-1) - places[0] === places.length - 1;
    if (isRun && places.at(-1) === n_columns - 1) return String(-places.length);
    if (isRun && places[0] === 0) return String(places.length);
    return keys.every((key) => typeof key === "string") ? keys.join(", ") : `${places.join(",")}${places.length === 1 ? "," : ""}`;
  }

  with(role) {
    return [...this.heads.values()].filter(({ select }) => select.value === role).map(({ column }) => column);
  }

  /** Say what the columns come to, and show it. */
  tell() {
    const [list] = this.with("list");
    this.separated.hidden = !list;
    for (const [at, { select, cell }] of [...this.heads.values()].entries()) {
      for (const each of [cell, ...this.cells.map((cells) => cells[at])]) {
        each.classList.toggle("is-label", ["label", "list"].includes(select.value));
        each.classList.toggle("is-out", select.value === "ignore");
      }
    }
    const n_out = this.with("ignore").length + this.besides("ignore").length;
    const n_labels = list ? 1 : this.chosen.size;
    const isTold = this.told.textContent === MISSING;
    if (isTold && !this.problem) this.complain("");
    const labels = list ? ["The labels are in ", name(list.name || `column ${list.at}`), "; "] : [`${counted(n_labels, "label")}, `];
    this.status.replaceChildren(...(this.problem ? [isTold ? "" : this.problem] : [...labels, `${counted(this.preview.n_columns - n_labels - n_out, "attribute")}${n_out ? `, ${counted(n_out, "column")} left out` : ""}.`]));
  }

  get problem() {
    if (this.member?.value === "") return CHOOSE;
    return this.preview?.asks && !this.chosen.size && !this.with("list").length ? MISSING : "";
  }

  submit(done) {
    if (this.problem) {
      this.complain(this.problem);
      if (this.preview) this.tell();
      (this.preview ? this.part.querySelector("select") : this.member)?.focus();
      return;
    }
    this.complain("");
    done(this.wish());
  }

  /** Options of the reader. What it finds out by itself is not repeated. */
  wish() {
    const { preview } = this;
    const wish = { ...this.given, ...this.settings };
    const asked = ["labels", "label_column", "label_separator", ...(preview?.asks ? ["ignore", "text", "category", "keep"] : [])];
    for (const key of asked) if (preview !== null) delete wish[key];
    const put = (key, value) => { if (value !== null && value !== "" && value?.length !== 0) wish[key] = value; };
    if (preview === null) return wish;
    if (!preview.asks) {
      put("labels", parseLabels(this.labels.value));
      put("label_column", this.column.value);
      put("label_separator", this.separator.value);
      return wish;
    }
    const keys = (columns) => columns.map((column) => column.key);
    const also = (key, columns) => put(key, [...keys(columns), ...this.besides(key)]);
    const [list] = this.with("list");
    put("labels", list ? null : parseLabels(this.labels.value));
    put("label_column", list ? list.key : null);
    put("label_separator", list ? this.separator.value : null);
    also("ignore", this.with("ignore"));
    also("text", this.with("text"));
    // Further rows could make something else of what is a category by the first ones.
    also("category", this.with("category").filter((column) => column.role !== "category" || !preview.is_whole));
    if (this.given.keep === true) put("keep", true);
    else also("keep", this.with("number").filter((column) => column.role === "ignore"));
    if (preview.decimal === ",") put("decimal", ",");
    if (preview.encoding !== null && !["utf-8", "utf-16"].includes(preview.encoding)) put("encoding", preview.encoding);
    const named = [wish.labels, wish.label_column, wish.ignore, wish.text, wish.category, wish.keep].flat();
    if (preview.header !== null && !named.some((each) => typeof each === "string")) put("header", preview.header);
    return wish;
  }
}

/** What a column is where it holds no labels. */
function plain({ role, roles }) {
  return ["label", "list"].includes(role) ? roles.find((each) => !["label", "list"].includes(each)) : role;
}
