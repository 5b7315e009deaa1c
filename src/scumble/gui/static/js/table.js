// A table that asks the server for one page at a time.

import { get } from "./api.js";
import { download } from "./downloads.js";
import { h, help, say } from "./dom.js";
import { counted, int } from "./format.js";
import { query, setQuery } from "./router.js";

const PAGE = 50;

/**
 * columns: [{ key, title, text?, help?, render(row), hide?, sort? }], the first one heads its row.
 * picture(rows): a chart of the rows shown. keepInAddress: whether sorting, searching and paging are part of the address.
 */
export class PagedTable {
  constructor({ path, caption, columns, noun, pageSize = PAGE, keepInAddress = true, csv = true, decorate = () => {}, picture = null, searchTitle = "Search" }) {
    Object.assign(this, { path, caption, columns, noun, pageSize, keepInAddress, decorate, picture });
    const given = keepInAddress ? query() : new URLSearchParams();
    this.wish = { sort: given.get("sort"), order: given.get("order"), q: given.get("q") ?? "", offset: Number(given.get("offset") ?? 0) || 0 };
    this.search = h("input", { type: "search", placeholder: searchTitle, "aria-label": `${searchTitle}`, value: this.wish.q, oninput: () => this.searched() });
    this.count = h("span", { class: "dim", "aria-live": "polite" });
    this.csv = csv ? download(() => `${this.path}.csv?${this.parameters({ offset: 0 })}`, "CSV", { class: "link push" }) : null;
    this.body = h("tbody");
    this.heads = columns.map((column) => this.head(column));
    this.wrap = h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": caption },
      h("table", {}, h("caption", { class: "visually-hidden" }, caption), h("thead", {}, h("tr", {}, ...this.heads)), this.body));
    this.pager = h("div", { class: "pager", role: "group", "aria-label": "Pages of the table" });
    this.element = h("div", {}, h("div", { class: "tools" }, this.search, this.count, columnHelp(columns), this.csv), this.drawn(), this.wrap, this.pager);
  }

  /** A picture of the rows that are shown, for who opens it. */
  drawn() {
    if (!this.picture) return null;
    this.frame = h("div", {});
    this.fold = h("details", { class: "fold", ontoggle: () => this.drawPicture() }, h("summary", {}, "As a picture"), this.frame);
    return this.fold;
  }

  drawPicture() {
    if (this.fold?.open) this.frame.replaceChildren(this.picture(this.shown.rows));
  }

  head(column) {
    const classes = [column.text ? "text" : "", column.hide ? "narrow-hide" : "", column.class ?? ""].join(" ").trim();
    if (column.sort === false) return h("th", { scope: "col", class: classes }, column.title);
    return h("th", { scope: "col", class: classes }, h("button", { type: "button", onclick: () => this.sorted(column.key) }, column.title));
  }

  sorted(key) {
    const isSame = this.shown?.sort === key;
    const first = this.columns.find((column) => column.key === key).text ? "ascending" : "descending";
    const order = isSame ? (this.shown.order === "ascending" ? "descending" : "ascending") : first;
    this.change({ sort: key, order, offset: 0 });
  }

  searched() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.change({ q: this.search.value, offset: 0 }, { replace: true }), 180);
  }

  async change(wish, how = {}) {
    Object.assign(this.wish, wish);
    if (this.keepInAddress) setQuery({ ...this.wish, offset: this.wish.offset || null }, how);
    await this.load();
  }

  parameters(more = {}) {
    const found = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...this.wish, ...more })) if (value) found.set(key, value);
    return found;
  }

  async load() {
    this.abort?.abort();
    this.abort = new AbortController();
    this.wrap.setAttribute("aria-busy", "true");
    try {
      this.shown = await get(`${this.path}?${this.parameters({ limit: this.pageSize })}`, this.abort.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      throw error;
    }
    this.wrap.removeAttribute("aria-busy");
    this.draw();
  }

  draw() {
    const { rows, sort, order, total, found } = this.shown;
    this.columns.forEach((column, at) => {
      const isSorted = column.key === sort;
      if (column.sort !== false) this.heads[at].setAttribute("aria-sort", isSorted ? order : "none");
      this.heads[at].classList.toggle("sorted", isSorted);
    });
    this.body.replaceChildren(...rows.map((row) => this.row(row)));
    if (!rows.length) this.body.append(h("tr", {}, h("td", { class: "text dim", colspan: this.columns.length }, total ? "Nothing fits the search." : "There is nothing here.")));
    this.count.textContent = found === total ? counted(total, this.noun) : `${int(found)} of ${counted(total, this.noun)}`;
    this.drawPager();
    this.drawPicture();
  }

  row(row) {
    const cells = this.columns.map((column) => {
      const classes = [column.text ? "text" : "", column.hide ? "narrow-hide" : "", column.class ?? ""].join(" ").trim();
      return column.head ? h("th", { scope: "row", class: classes }, column.render(row)) : h("td", { class: classes }, column.render(row));
    });
    const element = h("tr", {}, ...cells);
    this.decorate(element, row);
    return element;
  }

  drawPager() {
    const { offset, found } = this.shown;
    const last = Math.min(offset + this.pageSize, found);
    this.pager.hidden = found <= this.pageSize;
    const button = (title, to, enabled) => h("button", { type: "button", class: "small", disabled: !enabled, onclick: async () => {
      await this.change({ offset: to });
      this.wrap.scrollIntoView({ block: "nearest" });
      [...this.pager.children].find((each) => each.textContent === title && !each.disabled)?.focus();
      say(`${int(this.shown.offset + 1)} to ${int(Math.min(this.shown.offset + this.pageSize, found))}`);
    } }, title);
    this.pager.replaceChildren(
      h("span", { class: "dim num" }, `${int(offset + 1)}–${int(last)} of ${int(found)}`),
      button("First", 0, offset > 0), button("Previous", Math.max(0, offset - this.pageSize), offset > 0),
      button("Next", offset + this.pageSize, last < found), button("Last", Math.floor((found - 1) / this.pageSize) * this.pageSize, last < found));
  }
}

function columnHelp(columns) {
  const told = columns.filter((column) => column.help);
  return told.length ? help("the columns", h("dl", {}, told.map((column) => [h("dt", {}, column.title), h("dd", {}, column.help)]))) : null;
}

/** A number with a bar beside it, from 0 to 1. */
export function meter(text, part) {
  const bar = h("i");
  bar.style.setProperty("--part", `${Math.max(0, Math.min(1, part ?? 0)) * 100}%`);
  return [h("span", {}, text), h("span", { class: "meter", "aria-hidden": "true" }, bar)];
}
