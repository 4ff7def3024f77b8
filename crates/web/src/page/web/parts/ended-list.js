// The ended tasks: only rows that can be seen are drawn and read, so that their number does not matter.

import { get } from "../api.js";
import { setText } from "../dom.js";

const ROW = 38;
const TALL_ROW = 60;
const PAGE = 100;

export class EndedList {
  total = 0;
  #part;
  #rowOf;
  #parameters;
  #pages = new Map();
  /** Rises when the pages are read again. A page that was requested before is dropped. */
  #generation = 0;

  /** `parameters` returns those of the list, or null if no ended task is wanted. `rowOf` returns the element of a task. */
  constructor(part, parameters, rowOf) {
    this.#part = part;
    this.#parameters = parameters;
    this.#rowOf = rowOf;
  }

  get #height() {
    return matchMedia("(max-width: 720px)").matches ? TALL_ROW : ROW;
  }

  get #top() {
    return this.#part.list.getBoundingClientRect().top;
  }

  #isOnScreen(page) {
    const size = PAGE * this.#height;
    const top = this.#top + page * size;
    return top < innerHeight && top + size > 0;
  }

  #get(page) {
    return get("/tasks", { ...this.#parameters(), offset: page * PAGE, limit: PAGE });
  }

  /** Forgets what was read. */
  clear() {
    this.#pages = new Map();
  }

  /** Reads the first page and those on the screen again. Returns what takes them over. */
  async read() {
    this.#generation += 1;
    const pages = this.#parameters() ? [...new Set([0, ...[...this.#pages.keys()].filter((page) => this.#isOnScreen(page))])] : [];
    const read = await Promise.all(pages.map((page) => this.#get(page)));
    return () => {
      this.#pages = new Map(pages.map((page, at) => [page, read[at].tasks]));
      this.total = read[0]?.total ?? 0;
    };
  }

  async #readPage(page) {
    const mine = this.#generation;
    const read = await this.#get(page);
    if (mine !== this.#generation) return;
    this.#pages.set(page, read.tasks);
    this.total = read.total;
  }

  draw() {
    this.#part.element.hidden = this.total === 0;
    if (this.total === 0) return;
    setText(this.#part.count, this.total.toLocaleString());
    const size = this.#height;
    this.#part.list.style.height = `${this.total * size}px`;
    const top = this.#top;
    const first = Math.max(0, Math.floor(-top / size) - 10);
    const last = Math.min(this.total, Math.ceil((innerHeight - top) / size) + 10);
    const elements = [];
    const missing = new Set();
    for (let at = first; at < last; at += 1) {
      const task = this.#pages.get(Math.floor(at / PAGE))?.[at % PAGE];
      if (!task) {
        missing.add(Math.floor(at / PAGE));
        continue;
      }
      const element = this.#rowOf(task);
      element.style.top = `${at * size}px`;
      elements.push(element);
    }
    this.#part.show(elements);
    for (const page of missing) {
      if (this.#pages.has(page)) continue;
      this.#pages.set(page, []);
      this.#readPage(page).then(() => this.draw()).catch(() => this.#pages.delete(page));
    }
  }

  /** The position of a task among the ended ones; -1 if it was not read. */
  positionOf(id) {
    for (const [page, tasks] of this.#pages) {
      const found = tasks.findIndex((task) => task.id === id);
      if (found !== -1) return page * PAGE + found;
    }
    return -1;
  }

  /** Where a position is on the screen. */
  placeOf(at) {
    return { top: this.#top + at * this.#height, height: this.#height };
  }

  /** Draws the task at a position, which must be on the screen, and returns it. */
  async taskAt(at) {
    const page = Math.floor(at / PAGE);
    // What was read is dropped if all pages were read again meanwhile.
    for (let attempt = 0; attempt < 3 && !this.#pages.get(page)?.length; attempt += 1) await this.#readPage(page);
    this.draw();
    return this.#pages.get(page)?.[at % PAGE];
  }
}
