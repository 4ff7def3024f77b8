// Draws lines only where they can be seen, at most a few hundred elements for any number of lines.

import { h, setText } from "../dom.js";
import { paint } from "./ansi.js";
import { lowerBound, plain } from "./lines.js";

const LINE = 20;
const SHOWN_OF_LINE = 4_000;
const OVERSCAN = 20;

export class LineView {
  /** Whether the end stays at the bottom when lines change. */
  keepsEnd = true;
  #lines = [];
  /** The number of rows up to the end of each line; only if lines wrap. */
  #ends = [];
  #columns = 120;
  #wraps = false;
  #pattern = null;
  #match = null;
  #isNumbered = true;
  /** The lines with elements. */
  #drawn = new Set();
  /** Where the lines were put or seen last, as a position of the scroll bar. */
  #placed = 0;

  constructor(title) {
    this.note = h("div", { class: "log-note", hidden: true });
    this.spacer = h("div", { class: "log-lines" });
    this.scroller = h("div", { class: "log-scroll", tabindex: "0", role: "log", "aria-label": title, "aria-live": "off" }, this.note, this.spacer);
  }

  /** Shows other lines, or the same after lines were added or removed before others. */
  show(lines) {
    this.#lines = lines;
    this.#ends = [];
  }

  get wraps() {
    return this.#wraps;
  }

  wrap(on) {
    this.keepingPlace(() => {
      this.#wraps = on;
      this.#ends = [];
    });
  }

  /** Marks what matches in all lines. */
  mark(pattern) {
    this.#pattern = pattern;
    this.#match = null;
    for (const line of this.#lines) line.element = null;
  }

  /** Measures how much text fits into a row. */
  measure() {
    const style = getComputedStyle(this.scroller);
    const probe = h("span", { class: "log-probe" }, "0".repeat(100));
    const line = h("div", { class: "log-line" }, h("span", { class: "log-number" }), h("span", { class: "log-text" }));
    this.spacer.append(probe, line);
    const width = probe.getBoundingClientRect().width / 100;
    const text = line.lastChild;
    const room = this.scroller.clientWidth - text.offsetLeft - parseFloat(getComputedStyle(text).paddingRight) - parseFloat(style.paddingRight);
    probe.remove();
    line.remove();
    this.keepingPlace(() => {
      this.#columns = Math.max(20, Math.floor(room / (width || 8)));
      this.#ends = [];
    });
  }

  #rows() {
    if (!this.#wraps) return null;
    const lines = this.#lines;
    // The last lines may have grown.
    for (let at = Math.max(0, Math.min(this.#ends.length, lines.length) - 2); at < lines.length; at += 1) {
      const length = Math.min(lines[at].length, SHOWN_OF_LINE) + (lines[at].more ? 30 : 0);
      this.#ends[at] = (at === 0 ? 0 : this.#ends[at - 1]) + Math.max(1, Math.ceil(length / this.#columns));
    }
    this.#ends.length = lines.length;
    return this.#ends;
  }

  #rowOf(at) {
    const ends = this.#rows();
    if (!ends) return at;
    return at === 0 ? 0 : ends[at - 1];
  }

  #lineAt(row) {
    const ends = this.#rows();
    return ends ? lowerBound(ends.length, (at) => ends[at] > row) : Math.floor(row);
  }

  get #top() {
    return this.scroller.scrollTop - this.spacer.offsetTop;
  }

  get #first() {
    return this.#lineAt(Math.max(0, this.#top) / LINE);
  }

  get isInFirstHalf() {
    return this.#first < this.#lines.length / 2;
  }

  /** Makes a change, and remembers where it has put the lines. */
  placing(change) {
    const before = this.scroller.scrollTop;
    change();
    if (this.scroller.scrollTop !== before) this.#placed = this.scroller.scrollTop;
  }

  /** How far the user has scrolled from where the lines were; 0 if the lines were put where they are. */
  scrolledByUser() {
    const by = this.scroller.scrollTop - this.#placed;
    this.#placed = this.scroller.scrollTop;
    return Math.abs(by) <= 1 ? 0 : by;
  }

  /** Makes a change after which the same line is at the top, or the end at the bottom. */
  keepingPlace(change) {
    const line = this.#lines[this.#first];
    const rest = this.#top - this.#rowOf(this.#first) * LINE;
    this.placing(() => {
      change();
      this.#setHeight();
      const at = line ? this.#lines.indexOf(line) : -1;
      if (this.keepsEnd) this.toEnd();
      else if (at !== -1) this.scroller.scrollTop = this.spacer.offsetTop + this.#rowOf(at) * LINE + rest;
    });
  }

  toEnd() {
    this.placing(() => {
      this.#setHeight();
      this.scroller.scrollTop = this.scroller.scrollHeight;
    });
  }

  /** Shows a line in the middle, and marks it. */
  goTo(at) {
    this.#match = this.#lines[at] ?? null;
    this.placing(() => {
      this.#setHeight();
      this.scroller.scrollTop = this.spacer.offsetTop + this.#rowOf(at) * LINE - this.scroller.clientHeight / 2;
    });
  }

  scrollBy(rows) {
    this.placing(() => { this.scroller.scrollTop = rows === -Infinity ? 0 : this.scroller.scrollTop + rows * LINE; });
  }

  #setHeight() {
    const rows = this.#wraps ? this.#rows().at(-1) ?? 0 : this.#lines.length;
    this.spacer.style.height = `${rows * LINE}px`;
  }

  draw(isNumbered) {
    if (isNumbered !== this.#isNumbered) {
      this.#isNumbered = isNumbered;
      this.scroller.classList.toggle("unnumbered", !isNumbered);
      this.measure();
    }
    this.#setHeight();
    const top = Math.max(0, this.#top);
    const from = this.#lineAt(Math.max(0, top / LINE - OVERSCAN));
    const to = Math.min(this.#lines.length, this.#lineAt((top + this.scroller.clientHeight) / LINE + OVERSCAN) + 1);
    const shown = [];
    const drawn = new Set();
    for (let at = from; at < to; at += 1) {
      const line = this.#lines[at];
      line.element ??= this.#element(line);
      line.element.style.top = `${this.#rowOf(at) * LINE}px`;
      setText(line.element.firstChild, isNumbered ? String(at + 1) : "");
      line.element.classList.toggle("match", this.#match === line);
      shown.push(line.element);
      drawn.add(line);
    }
    // The elements of all lines that were ever seen would be far more than the page.
    for (const line of this.#drawn) if (!drawn.has(line)) line.element = null;
    this.#drawn = drawn;
    if (!same(this.spacer.children, shown)) this.spacer.replaceChildren(...shown);
  }

  #element(line) {
    const text = h("span", { class: "log-text" });
    const ranges = this.#marked(plain(line).slice(0, SHOWN_OF_LINE));
    let at = 0;
    for (const { text: part, style } of line.segments) {
      const end = Math.min(SHOWN_OF_LINE, at + part.length);
      // A match may begin in one segment and end in another.
      for (const [from, to, isMatch] of ranges) {
        const piece = part.slice(Math.max(from, at) - at, Math.min(to, end) - at);
        if (to > at && from < end && piece) text.append(styled(piece, style, isMatch));
      }
      at = end;
    }
    const more = line.length - at + line.more;
    if (more > 0) text.append(h("span", { class: "log-more" }, ` \u2026 ${more.toLocaleString()} more characters`));
    return h("div", { class: `log-line ${line.stream}` }, h("span", { class: "log-number", "aria-hidden": "true" }), text);
  }

  /** The ranges of a text that match and those between them. */
  #marked(text) {
    const ranges = [];
    let at = 0;
    for (const found of this.#pattern ? text.matchAll(this.#pattern) : []) {
      if (!found[0]) continue;
      ranges.push([at, found.index, false], [found.index, found.index + found[0].length, true]);
      at = found.index + found[0].length;
    }
    ranges.push([at, Infinity, false]);
    return ranges;
  }
}

function styled(text, style, isMatch) {
  if (isMatch) return h("mark", {}, text);
  if (style.key === "") return document.createTextNode(text);
  const span = h("span", {}, text);
  paint(span, style);
  return span;
}

function same(children, elements) {
  if (children.length !== elements.length) return false;
  for (let at = 0; at < elements.length; at += 1) if (children[at] !== elements[at]) return false;
  return true;
}
