// A search of a whole log: the server finds the lines, page by page.

import { get } from "../api.js";

const MATCHES = 1000;

export class LogSearch {
  /** What is marked in the lines; null if the browser does not know this kind of expression. */
  pattern = null;
  #matches = [];
  #at = -1;
  #from = 0;
  #hasMore = true;

  /** Searches for a text, or for a regular expression between slashes. Capital letters make it distinguish case. */
  constructor(text, path, selection) {
    const slashed = text.match(/^\/(.+)\/$/);
    const hasCapital = /[A-Z]/.test(text);
    const source = slashed ? slashed[1] : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    try {
      this.pattern = new RegExp(source, hasCapital ? "g" : "gi");
    } catch {
      // Only the lines are shown then.
    }
    this.path = path;
    this.parameters = { ...selection, pattern: hasCapital ? source : `(?i)${source}`, limit: MATCHES };
  }

  /** Reads the next matches. */
  async more() {
    const found = await get(`${this.path}/search`, { ...this.parameters, from: this.#from });
    this.#matches.push(...found.matches.filter((match) => !match.context));
    this.#hasMore = found.truncated && found.next_offset > this.#from;
    this.#from = found.next_offset;
  }

  /** Moves to the next match, or to the previous one, and returns it. */
  async step(by) {
    if (by > 0 && this.#at === this.#matches.length - 1 && this.#hasMore && this.#matches.length) await this.more();
    const count = this.#matches.length;
    if (!count) return null;
    this.#at = this.#at === -1 && by < 0 ? count - 1 : (this.#at + by + count) % count;
    return this.#matches[this.#at];
  }

  get number() {
    return this.#at + 1;
  }

  get result() {
    return { count: this.#matches.length, hasMore: this.#hasMore };
  }
}
