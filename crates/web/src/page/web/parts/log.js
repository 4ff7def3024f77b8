// The log of a task: a part of it that moves and grows, followed at its end unless the user looks at something else.

import { EventStream, get } from "../api.js";
import { h, setText } from "../dom.js";
import { bytes } from "../format.js";
import { LineView } from "./line-view.js";
import { Lines, plain } from "./lines.js";
import { LogSearch } from "./log-search.js";

const PART = 512 * 1024;
/** What is shown before a match. */
const BEFORE_MATCH = 64 * 1024;
/** The distance to an end below which more is read. */
const NEAR = 1000;
/** How many lines are compared to find a match whose offset is not exact, because secrets before it were redacted. */
const SEARCHED_NEARBY = 400;

export class LogPane {
  #target;
  #source = null;
  #lines = new Lines();
  #start = 0;
  /** The offset after the last line; null before anything was read. */
  #next = null;
  #hasEarlier = false;
  #isOver = false;
  /** Whether the part ends before the log does, so that its end is not followed. */
  #isDetached = false;
  #follows = true;
  /** Rises when another part is shown. What was requested for an earlier one is dropped. */
  #part = 0;
  #reading = {};
  #isScheduled = false;
  #isDrawing = false;
  #scrollTop = 0;
  /** Where a match was shown. Being there does not mean that the user wants to follow the end. */
  #shownAt = null;
  #search = null;
  #steps = Promise.resolve();

  constructor(title) {
    this.view = new LineView(title);
    this.jump = h("button", { class: "log-jump", hidden: true, onclick: () => this.follow(true) }, "\u2193 Follow");
    this.element = h("div", { class: "log" }, this.view.scroller, this.jump);
    this.view.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.observer = new ResizeObserver(() => {
      this.view.measure();
      this.#draw();
    });
    this.observer.observe(this.view.scroller);
  }

  /** Shows the log of a run of a task. */
  open(target) {
    this.#target = target;
    this.#reset();
    this.#connect(null);
  }

  close() {
    this.#part += 1;
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.timer);
  }

  destroy() {
    this.close();
    this.observer.disconnect();
  }

  get #path() {
    return `/tasks/${encodeURIComponent(this.#target.id)}/output`;
  }

  get #selection() {
    return { run: this.#target.run, stream: this.#target.stream };
  }

  #reset() {
    this.close();
    this.#lines = new Lines();
    this.view.show(this.#lines.all);
    this.#next = null;
    this.#isOver = this.#isDetached = this.#hasEarlier = false;
    this.#draw();
  }

  #connect(offset) {
    this.#source?.close();
    this.#source = new EventStream(`${this.#path}/stream`, { ...this.#selection, offset }, {
      log: (part) => this.#append(part),
      end: () => {
        this.#isOver = true;
        this.#source.close();
        this.#draw();
      },
      // The connection of the page tells whether the server is there; the log continues where it was.
      lost: () => { this.timer = setTimeout(() => this.#connect(this.#next), 1500); },
    });
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
    this.#lines.append(part);
    this.#next = part.next;
    this.#isOver = part.is_over;
    if (this.#lines.areTooMany) this.#shorten();
    this.#draw();
  }

  /** Drops lines at the end that is farther from what is seen. */
  #shorten() {
    if (!this.#follows && !this.#isDetached && this.view.isInFirstHalf) return this.#detach(this.#lines.dropLast());
    this.view.keepingPlace(() => {
      this.#lines.dropFirst();
      this.view.show(this.#lines.all);
    });
    this.#hasEarlier = true;
    this.#start = this.#lines.all[0].offset;
  }

  /** Reads something once at a time. The result is dropped if another part is shown by then. */
  #read(what, parameters, work) {
    const part = this.#part;
    this.#reading[what] ??= get(this.#path, { ...this.#selection, max_bytes: PART, ...parameters }).then((read) => {
      if (part === this.#part) work(read);
    }).finally(() => {
      delete this.#reading[what];
      this.#draw();
    });
    this.#draw();
    return this.#reading[what];
  }

  /** Reads what comes before the first line. */
  async #earlier() {
    if (!this.#hasEarlier) return;
    await this.#read("earlier", { before: this.#start }, (part) => {
      this.view.keepingPlace(() => {
        this.#lines.prepend(part);
        this.#start = part.offset;
        this.#hasEarlier = part.has_earlier && part.pieces.length > 0;
        if (this.#lines.areTooMany) this.#detach(this.#lines.dropLast());
        this.view.show(this.#lines.all);
      });
    });
  }

  /** Reads what comes after the last line, if the end is not followed. */
  async #later() {
    if (!this.#isDetached) return;
    await this.#read("later", { offset: this.#next }, (part) => {
      this.#append({ ...part, is_over: false });
      this.#attach(part);
    });
  }

  #detach(next) {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.timer);
    this.#next = next;
    this.#isDetached = true;
    this.#isOver = false;
  }

  #attach(part) {
    this.#isDetached = part.next < part.end && part.pieces.length > 0;
    if (!this.#isDetached) this.#connect(part.next);
  }

  /** Shows a part around an offset instead of what was shown. */
  async #load(offset) {
    this.#reset();
    await this.#read("part", { offset: Math.max(0, offset - BEFORE_MATCH) }, (part) => {
      this.#append({ ...part, is_over: false });
      this.#attach(part);
    });
  }

  #has(offset) {
    return this.#next !== null && offset >= this.#start && offset < this.#next;
  }

  follow(on) {
    this.#shownAt = null;
    if (on && this.#isDetached) this.open(this.#target);
    this.#setFollows(on);
    if (on) this.view.toEnd();
    this.#draw();
  }

  #setFollows(on) {
    if (this.#follows === on) return;
    this.#follows = this.view.keepsEnd = on;
    this.onfollow?.(on);
  }

  get follows() {
    return this.#follows;
  }

  wrap(on) {
    this.element.classList.toggle("wraps", on);
    this.view.wrap(on);
    this.#draw();
  }

  get wraps() {
    return this.view.wraps;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.view.scroller;
    const below = scrollHeight - scrollTop - clientHeight;
    const down = scrollTop - this.#scrollTop;
    this.#scrollTop = scrollTop;
    if (this.#shownAt !== null && Math.abs(this.#shownAt - scrollTop) > 1) this.#shownAt = null;
    // Only a user scrolls while nothing is drawn; lines that go or come are no wish.
    if (!this.#isDrawing && this.#shownAt === null && this.#next !== null) {
      if (below < 20 && down > 0 && !this.#isDetached) this.#setFollows(true);
      else if (below >= 20 && down < 0) this.#setFollows(false);
    }
    if (below < NEAR) this.#later().catch(() => {});
    if (scrollTop < NEAR && !this.#follows) this.#earlier().catch(() => {});
    this.#draw();
  }

  #draw() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#drawNow();
    });
  }

  #drawNow() {
    this.#isDrawing = true;
    setText(this.view.note, this.#noteText());
    this.view.note.hidden = !this.view.note.textContent;
    if (this.#follows) this.view.toEnd();
    this.view.draw(this.#start === 0 && !this.#hasEarlier);
    this.jump.hidden = this.#follows || (this.#isOver && !this.#isDetached);
    requestAnimationFrame(() => { this.#isDrawing = false; });
  }

  #noteText() {
    if (this.#reading.earlier) return "loading earlier output\u2026";
    if (this.#hasEarlier) return `${bytes(this.#start)} of earlier output; scroll up to load it`;
    if (this.#lines.all.length) return "";
    if (this.#next === null) return "loading\u2026";
    return this.#isOver ? "no output" : "no output yet";
  }

  /** Searches the whole log. Returns the number of matches, and whether there are more. */
  async search(text) {
    const search = text ? new LogSearch(text, this.#path, this.#selection) : null;
    this.#search = search;
    this.view.mark(search?.pattern ?? null);
    this.#draw();
    await search?.more();
    return search?.result ?? { count: 0, hasMore: false };
  }

  /** Goes to the next match, or to the previous one. Returns its number and what the search has found. */
  go(step) {
    // One after the other, because each may show another part.
    const going = this.#steps.then(() => this.#go(step));
    this.#steps = going.catch(() => {});
    return going;
  }

  async #go(step) {
    const search = this.#search;
    const match = await search?.step(step);
    if (!match || search !== this.#search) return null;
    this.#setFollows(false);
    if (!this.#has(match.offset) && this.#start - match.offset < PART && this.#start > match.offset) await this.#earlier();
    if (!this.#has(match.offset)) await this.#load(match.offset);
    if (search !== this.#search) return null;
    this.view.goTo(this.#near(this.#lines.indexAt(match.offset), match.text));
    this.#shownAt = this.view.scroller.scrollTop;
    this.#drawNow();
    return { number: search.number, ...search.result };
  }

  #near(at, text) {
    const wanted = text.slice(0, 60).trim();
    const is = (index) => this.#lines.all[index] && plain(this.#lines.all[index]).trim().startsWith(wanted);
    for (let distance = 0; distance < SEARCHED_NEARBY; distance += 1) {
      const found = [at - distance, at + distance].find(is);
      if (found !== undefined) return found;
    }
    return at;
  }

  async #home() {
    if (this.#start > 0 || this.#hasEarlier) await this.#load(0);
    this.view.scroller.scrollTop = 0;
    this.#draw();
  }

  scroll(by) {
    if (by === "end") return this.follow(true);
    this.#shownAt = null;
    this.#setFollows(false);
    if (by === "home") this.#home().catch(() => {});
    else this.view.scrollBy(by);
  }
}
