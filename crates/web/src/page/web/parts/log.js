// The log of a task: lines as they arrive, drawn only where they can be seen.

import { get, streamUrl } from "../api.js";
import { h, setText } from "../dom.js";
import { bytes } from "../format.js";
import { AnsiReader, paint } from "./ansi.js";

const LINE = 20;
const MOST_LINES = 100_000;
const LONGEST_LINE = 16_384;
const SHOWN_OF_LINE = 4_000;
const EARLIER = 512 * 1024;
const OVERSCAN = 20;

/** The lines of a log, without the page. */
class Lines {
  all = [];
  firstNumber = 0;
  #reader = new AnsiReader();
  #current = null;
  #style = null;
  #overwrites = false;

  /** Adds text of a stream that begins at an offset. */
  add(text, stream, offset) {
    let at = offset;
    this.#reader.read(text, {
      text: (part, style) => {
        const line = this.#open(stream, at);
        at += part.length;
        if (this.#overwrites) {
          line.segments = [];
          line.length = 0;
          line.more = 0;
          this.#overwrites = false;
        }
        const room = Math.max(0, LONGEST_LINE - line.length);
        const kept = part.length > room ? part.slice(0, room) : part;
        line.more += part.length - kept.length;
        line.length += kept.length;
        if (kept) {
          const last = line.segments.at(-1);
          if (last && last.style === style) last.text += kept;
          else line.segments.push({ text: kept, style });
        }
        line.element = null;
      },
      newline: () => {
        this.#open(stream, at);
        at += 1;
        this.#current = null;
        this.#overwrites = false;
      },
      carriageReturn: () => {
        at += 1;
        if (this.#current) this.#overwrites = true;
      },
    });
    if (this.all.length > MOST_LINES) {
      const dropped = this.all.length - MOST_LINES;
      this.all.splice(0, dropped);
      this.firstNumber += dropped;
      return dropped;
    }
    return 0;
  }

  #open(stream, offset) {
    if (!this.#current || (this.#current.stream !== stream && this.#current.length === 0)) {
      this.#current = { segments: [], length: 0, more: 0, stream, offset, element: null };
      this.all.push(this.#current);
    }
    return this.#current;
  }
}

const plain = (line) => line.segments.map((segment) => segment.text).join("");

/** Shows a log and follows it. */
export class LogPane {
  #target;
  #source = null;
  #lines = new Lines();
  #start = 0;
  #next = null;
  #hasEarlier = false;
  #follows = true;
  #wraps = false;
  #scheduled = false;
  #top = [];
  #columns = 120;
  #matches = [];
  #match = -1;
  #pattern = null;
  #isOver = false;
  #loadsEarlier = false;
  /** Whether a part far above the end is shown, which is not followed. */
  #isDetached = false;
  #loadsLater = false;

  constructor(title) {
    this.note = h("div", { class: "log-note" });
    this.spacer = h("div", { class: "log-lines" });
    this.scroller = h("div", { class: "log-scroll", tabindex: "0", role: "log", "aria-label": title, "aria-live": "off" }, this.note, this.spacer);
    this.jump = h("button", { class: "log-jump", hidden: true, onclick: () => this.follow(true) }, "\u2193 Follow");
    this.element = h("div", { class: "log" }, this.scroller, this.jump);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(this.scroller);
  }

  /** Shows the log of a run of a task. */
  open(target) {
    this.close();
    this.#target = target;
    this.#reset();
    this.#connect(null);
  }

  close() {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.timer);
  }

  destroy() {
    this.close();
    this.observer.disconnect();
  }

  #reset() {
    this.#lines = new Lines();
    this.#next = null;
    this.#isOver = false;
    this.#isDetached = false;
    this.#hasEarlier = false;
    this.#top = [];
    this.#draw();
  }

  #connect(offset) {
    const { id, run, stream } = this.#target;
    const source = new EventSource(streamUrl(`/tasks/${encodeURIComponent(id)}/output/stream`, { run, stream, offset }));
    this.#source = source;
    source.addEventListener("log", (event) => this.#append(JSON.parse(event.data)));
    source.addEventListener("end", () => {
      this.#isOver = true;
      source.close();
      this.#draw();
    });
    source.onerror = () => {
      if (this.#source !== source) return;
      source.close();
      // The connection of the page tells whether the server is there; the log continues where it was.
      this.timer = setTimeout(() => this.#connect(this.#next), 1500);
    };
  }

  #append(part) {
    if (this.#next !== null && part.next <= this.#next && part.pieces.length) return;
    if (this.#next === null) {
      this.#hasEarlier = part.has_earlier;
      this.#start = part.offset;
    }
    if (part.skipped > 0) {
      this.#lines.add(`\n\u001b[33m\u2014 ${bytes(part.skipped)} skipped: the task prints faster than it can be shown \u2014\u001b[0m\n`, "stdout", part.offset);
    }
    let at = part.offset;
    for (const piece of part.pieces) {
      if (this.#lines.add(piece.text, piece.stream, at) > 0) {
        this.#top = [];
        this.#hasEarlier = true;
        this.#start = this.#lines.all[0].offset;
      }
      at += piece.text.length;
    }
    this.#next = part.next;
    this.#isOver = part.is_over;
    this.#draw();
  }

  /** Reads what comes before the first line. */
  async earlier() {
    if (!this.#hasEarlier || this.#loadsEarlier) return;
    this.#loadsEarlier = true;
    this.#draw();
    try {
      const { id, run, stream } = this.#target;
      const part = await get(`/tasks/${encodeURIComponent(id)}/output`, { run, stream, before: this.#start, max_bytes: EARLIER });
      const before = new Lines();
      let at = part.offset;
      for (const piece of part.pieces) {
        before.add(piece.text, piece.stream, at);
        at += piece.text.length;
      }
      // The first line of what is shown may be the rest of the last one.
      const endsInLine = part.pieces.length && !part.pieces.at(-1).text.endsWith("\n");
      const first = this.#lines.all[0];
      const last = before.all.at(-1);
      if (endsInLine && first && last) {
        last.segments.push(...first.segments);
        last.length += first.length;
        last.more += first.more;
        this.#lines.all.shift();
      }
      const height = this.#height();
      const scrolled = this.scroller.scrollTop;
      this.#lines.all.unshift(...before.all);
      if (this.#lines.all.length > MOST_LINES * 1.5) this.#lines.all.length = Math.floor(MOST_LINES * 1.5);
      this.#start = part.offset;
      this.#hasEarlier = part.has_earlier && part.pieces.length > 0;
      this.#top = [];
      this.#drawNow();
      this.scroller.scrollTop = scrolled + (this.#height() - height);
    } finally {
      this.#loadsEarlier = false;
      this.#draw();
    }
  }

  follow(on) {
    this.#follows = on;
    if (on && this.#isDetached) this.open(this.#target);
    if (on) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#draw();
    this.onfollow?.(on);
  }

  get follows() {
    return this.#follows;
  }

  wrap(on) {
    this.#wraps = on;
    this.element.classList.toggle("wraps", on);
    this.#top = [];
    this.#draw();
  }

  get wraps() {
    return this.#wraps;
  }

  #resized() {
    const style = getComputedStyle(this.scroller);
    const probe = h("span", { class: "log-probe" }, "0".repeat(100));
    this.spacer.append(probe);
    const width = probe.getBoundingClientRect().width / 100;
    probe.remove();
    const gutter = 76;
    const room = this.scroller.clientWidth - gutter - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    this.#columns = Math.max(20, Math.floor(room / (width || 8)));
    this.#top = [];
    this.#draw();
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const below = scrollHeight - scrollTop - clientHeight;
    const isAtEnd = below < LINE && !this.#isDetached;
    if (this.#isDetached && below < 1000) this.#later().catch(() => {});
    if (this.#follows !== isAtEnd && !this.#isDrawing) {
      this.#follows = isAtEnd;
      this.onfollow?.(isAtEnd);
    }
    if (scrollTop < 400) this.earlier().catch(() => {});
    this.#draw();
  }

  #isDrawing = false;

  #draw() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#drawNow();
    });
  }

  /** The number of rows above each line; only needed if lines wrap. */
  #rows() {
    const lines = this.#lines.all;
    if (!this.#wraps) return null;
    if (this.#top.length > lines.length) this.#top = [];
    // The last line may have grown.
    const from = Math.max(0, this.#top.length - 2);
    for (let at = from; at < lines.length; at += 1) {
      const length = Math.min(lines[at].length, SHOWN_OF_LINE) + (lines[at].more ? 30 : 0);
      const before = at === 0 ? 0 : this.#top[at - 1];
      this.#top[at] = before + Math.max(1, Math.ceil(length / this.#columns));
    }
    this.#top.length = lines.length;
    return this.#top;
  }

  #height() {
    const rows = this.#rows();
    return (rows ? rows.at(-1) ?? 0 : this.#lines.all.length) * LINE;
  }

  #drawNow() {
    const lines = this.#lines.all;
    const rows = this.#rows();
    this.spacer.style.height = `${this.#height()}px`;
    this.#isDrawing = true;
    if (this.#follows) this.scroller.scrollTop = this.scroller.scrollHeight;
    const top = Math.max(0, this.scroller.scrollTop - this.spacer.offsetTop);
    const firstRow = Math.floor(top / LINE) - OVERSCAN;
    const lastRow = Math.ceil((top + this.scroller.clientHeight) / LINE) + OVERSCAN;
    const lineAt = (row) => (rows ? lowerBound(rows, row + 1) : row);
    const from = Math.max(0, lineAt(Math.max(0, firstRow)));
    const to = Math.min(lines.length, lineAt(lastRow) + 1);
    const shown = [];
    for (let at = from; at < to; at += 1) {
      const line = lines[at];
      line.element ??= this.#element(line);
      const row = rows ? (at === 0 ? 0 : rows[at - 1]) : at;
      line.element.style.top = `${row * LINE}px`;
      setText(line.element.firstChild, this.#hasEarlier || this.#start > 0 ? "" : String(at + 1));
      line.element.classList.toggle("match", this.#matchLine === line);
      shown.push(line.element);
    }
    if (!same(this.spacer.children, shown)) this.spacer.replaceChildren(...shown);
    this.jump.hidden = this.#follows || (this.#isOver && !this.#isDetached);
    setText(this.note, this.#noteText());
    this.note.hidden = !this.note.textContent;
    requestAnimationFrame(() => { this.#isDrawing = false; });
  }

  #noteText() {
    if (this.#loadsEarlier) return "loading earlier output\u2026";
    if (this.#hasEarlier) return `${bytes(this.#start)} of earlier output; scroll up to load it`;
    if (this.#lines.all.length === 0) return this.#next === null ? "loading\u2026" : this.#isOver ? "no output" : "no output yet";
    return "";
  }

  #element(line) {
    const text = h("span", { class: "log-text" });
    let shown = 0;
    for (const segment of line.segments) {
      if (shown >= SHOWN_OF_LINE) break;
      const part = segment.text.slice(0, SHOWN_OF_LINE - shown);
      shown += part.length;
      this.#addText(text, part, segment.style);
    }
    const more = line.length - shown + line.more;
    if (more > 0) text.append(h("span", { class: "log-more" }, ` \u2026 ${more.toLocaleString()} more characters`));
    return h("div", { class: `log-line ${line.stream}` }, h("span", { class: "log-number", "aria-hidden": "true" }), text);
  }

  #addText(parent, text, style) {
    const parts = this.#pattern ? text.split(this.#pattern) : [text];
    parts.forEach((part, index) => {
      if (!part) return;
      if (index % 2 === 1) parent.append(h("mark", {}, part));
      else if (style.key === "") parent.append(part);
      else {
        const span = h("span", {}, part);
        paint(span, style);
        parent.append(span);
      }
    });
  }

  #matchLine = null;

  /** Searches the whole log. Returns the number of matches, and whether there are more. */
  async search(text) {
    this.#matches = [];
    this.#match = -1;
    this.#matchLine = null;
    this.#pattern = null;
    let truncated = false;
    if (text) {
      const slashed = text.match(/^\/(.+)\/$/);
      const hasCapital = /[A-Z]/.test(text);
      const source = slashed ? slashed[1] : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      try {
        this.#pattern = new RegExp(`(${source.replace(/\((?!\?)/g, "(?:")})`, hasCapital ? "g" : "gi");
      } catch {
        this.#pattern = null;
      }
      const { id, run, stream } = this.#target;
      const found = await get(`/tasks/${encodeURIComponent(id)}/output/search`, {
        pattern: hasCapital ? source : `(?i)${source}`, run, stream, limit: 1000,
      });
      this.#matches = found.matches.filter((match) => !match.context);
      truncated = found.truncated;
    }
    for (const line of this.#lines.all) line.element = null;
    this.spacer.replaceChildren();
    this.#draw();
    return { count: this.#matches.length, truncated };
  }

  /** Goes to the next match, or to the previous one. Returns its number. */
  async go(step) {
    if (!this.#matches.length) return 0;
    this.#match = this.#match === -1 && step < 0 ? this.#matches.length - 1
      : (this.#match + step + this.#matches.length) % this.#matches.length;
    const match = this.#matches[this.#match];
    this.follow(false);
    while (match.offset < this.#start && this.#hasEarlier && this.#start - match.offset < 16 * 1024 * 1024) await this.earlier();
    if (match.offset < this.#start) await this.#load(match.offset);
    const lines = this.#lines.all;
    let at = lines.findIndex((line) => line.offset > match.offset);
    at = at === -1 ? lines.length - 1 : Math.max(0, at - 1);
    // Redaction may have changed lengths, so look for the text nearby.
    const wanted = match.text.slice(0, 60).trim();
    for (let distance = 0; distance < 400; distance += 1) {
      const near = [at - distance, at + distance].find((index) => lines[index] && plain(lines[index]).trim().startsWith(wanted));
      if (near !== undefined) {
        at = near;
        break;
      }
    }
    this.#matchLine = lines[at] ?? null;
    const rows = this.#rows();
    const row = rows ? (at === 0 ? 0 : rows[at - 1]) : at;
    this.scroller.scrollTop = this.spacer.offsetTop + row * LINE - this.scroller.clientHeight / 2;
    this.#draw();
    return this.#match + 1;
  }

  /** Shows a part far above the end instead of what was shown. */
  async #load(offset) {
    const { id, run, stream } = this.#target;
    const part = await get(`/tasks/${encodeURIComponent(id)}/output`, { run, stream, offset: Math.max(0, offset - 65536), max_bytes: EARLIER });
    this.close();
    this.#reset();
    this.#follows = false;
    this.#append({ ...part, is_over: false });
    this.#continue(part);
  }

  /** Reads what comes after the last line, if the end is not followed. */
  async #later() {
    if (this.#loadsLater) return;
    this.#loadsLater = true;
    try {
      const { id, run, stream } = this.#target;
      const part = await get(`/tasks/${encodeURIComponent(id)}/output`, { run, stream, offset: this.#next, max_bytes: EARLIER });
      if (!this.#isDetached) return;
      this.#append({ ...part, is_over: false });
      this.#continue(part);
    } finally {
      this.#loadsLater = false;
    }
  }

  #continue(part) {
    this.#isDetached = part.next < part.end;
    if (!this.#isDetached) this.#connect(part.next);
  }

  /** Goes to the beginning of the log. */
  async #home() {
    if (this.#hasEarlier && this.#start > EARLIER) await this.#load(0);
    this.scroller.scrollTop = 0;
    this.#draw();
  }

  scroll(by) {
    if (by === "end") return this.follow(true);
    this.#follows = false;
    if (by === "home") this.#home().catch(() => {});
    else this.scroller.scrollTop += by * LINE;
    this.onfollow?.(false);
  }
}

function same(children, elements) {
  if (children.length !== elements.length) return false;
  for (let at = 0; at < elements.length; at += 1) if (children[at] !== elements[at]) return false;
  return true;
}

/** The first index whose value is at least `value`. */
function lowerBound(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
