// The log of a task: a part of it that moves and grows, followed at its end unless the user looks at something else.

import { h, setText } from "../dom.js";
import { bytes } from "../format.js";
import { LineView } from "./line-view.js";
import { Lines } from "./lines.js";
import { LogSource } from "./log-source.js";

/** The distance to an end below which more is read. */
const NEAR = 1000;

export class LogPane {
  /** Where the log comes from. */
  #source;
  /** The stream of what is added to it, if its end is shown. */
  #stream = null;
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
    this.#source = new LogSource(target);
    this.#restart();
  }

  #restart() {
    this.#reset();
    this.#connect(null);
  }

  close() {
    this.#part += 1;
    this.#reading = {};
    this.#stream?.close();
    this.#stream = null;
  }

  destroy() {
    this.close();
    this.observer.disconnect();
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
    this.#stream?.close();
    this.#stream = this.#source.follow(offset, {
      log: (part) => this.#append(part),
      end: () => {
        this.#isOver = true;
        this.#draw();
      },
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
    if (!this.#follows && this.view.isInFirstHalf) return this.#detach(this.#lines.dropLast());
    this.view.keepingPlace(() => {
      this.#start = this.#lines.dropFirst();
      this.#hasEarlier = this.#start > 0;
      this.view.show(this.#lines.all);
    });
  }

  /** Reads something once at a time. The result is dropped if it does not fit to what is shown by then. */
  #read(what, parameters, work) {
    const [part, reading, start, next] = [this.#part, this.#reading, this.#start, this.#next];
    const fits = () => part === this.#part && (what !== "earlier" || start === this.#start) && (what !== "later" || next === this.#next);
    reading[what] ??= this.#source.read(parameters).then((read) => {
      if (fits()) work(read);
    }).finally(() => {
      delete reading[what];
      this.#draw();
    });
    this.#draw();
    return reading[what];
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
    if (next === null) return;
    this.#stream?.close();
    this.#stream = null;
    this.#next = next;
    this.#isDetached = true;
    this.#isOver = false;
  }

  #attach(part) {
    // Its last lines may have been dropped again.
    if (this.#next !== part.next) return;
    this.#isDetached = part.next < part.end && part.pieces.length > 0;
    if (!this.#isDetached) this.#connect(part.next);
  }

  /** Shows a part from an offset on instead of what was shown. */
  async #load(offset) {
    this.#reset();
    await this.#read("part", { offset }, (part) => {
      this.#append({ ...part, is_over: false });
      this.#attach(part);
    });
  }

  follow(on) {
    if (on && this.#isDetached) this.#restart();
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
    const by = this.view.scrolledByUser();
    // A little upward is enough: the end would be shown again before the user gets farther.
    if (by !== 0) this.#setFollows(by > 0 && below < 20 && !this.#isDetached);
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
    this.view.placing(() => {
      setText(this.view.note, this.#noteText());
      this.view.note.hidden = !this.view.note.textContent;
      if (this.#follows) this.view.toEnd();
      this.view.draw(this.#start === 0 && !this.#hasEarlier);
    });
    this.jump.hidden = this.#follows || (this.#isOver && !this.#isDetached);
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
    const search = text ? this.#source.search(text) : null;
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
    const isHere = this.#next !== null && match.offset >= this.#start && match.offset < this.#next;
    const line = (isHere ? this.#lines.find(match) : null) ?? await this.#lineAt(match.offset);
    if (search !== this.#search) return null;
    this.view.goTo(Math.max(0, this.#lines.all.indexOf(line)));
    this.#drawNow();
    return { number: search.number, ...search.result };
  }

  /** Shows the line that begins at an offset, and what is before it. */
  async #lineAt(offset) {
    await this.#load(offset);
    const [line] = this.#lines.all;
    await this.#earlier();
    return line;
  }

  async #home() {
    if (this.#start > 0 || this.#hasEarlier) await this.#load(0);
    this.view.scrollBy(-Infinity);
    this.#draw();
  }

  scroll(by) {
    if (by === "end") return this.follow(true);
    this.#setFollows(false);
    if (by === "home") this.#home().catch(() => {});
    else this.view.scrollBy(by);
  }
}
