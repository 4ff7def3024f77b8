// Where a log comes from: one stream or both of a run of a task.

import { EventStream, get } from "../api.js";
import { LogSearch } from "./log-search.js";

/** How many bytes are read at once. */
const PART = 512 * 1024;

export class LogSource {
  #path;
  #selection;

  constructor({ id, run, stream }) {
    this.#path = `/tasks/${encodeURIComponent(id)}/output`;
    this.#selection = { run, stream };
  }

  /** Follows the log from an offset on; from near its end if that is null. Calls `on.log(part)`, and `on.end()` at its end. */
  follow(offset, on) {
    return new Following((from, events) => new EventStream(`${this.#path}/stream`, { ...this.#selection, offset: from }, events), offset, on);
  }

  /** Reads a part of the log. */
  read(part) {
    return get(this.#path, { ...this.#selection, max_bytes: PART, ...part });
  }

  /** Searches the whole log. */
  search(text) {
    return new LogSearch(text, this.#path, this.#selection);
  }
}

/** A log that is followed while the page can be seen: a browser has few connections to a server for all its pages. */
class Following {
  #open;
  #next;
  #on;
  #stream = null;
  #timer;

  constructor(open, next, on) {
    this.#open = open;
    this.#next = next;
    this.#on = on;
    document.addEventListener("visibilitychange", this.#adapt);
    this.#adapt();
  }

  #adapt = () => {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#stream?.close();
      this.#stream = null;
    } else if (!this.#stream) this.#connect();
  };

  #connect() {
    this.#stream = this.#open(this.#next, {
      log: (part) => {
        this.#next = part.next;
        this.#on.log(part);
      },
      end: () => {
        this.close();
        this.#on.end();
      },
      // The connection of the page tells whether the server is there; the log continues where it was.
      lost: () => {
        this.#stream = null;
        this.#timer = setTimeout(this.#adapt, 1500);
      },
    });
  }

  close() {
    document.removeEventListener("visibilitychange", this.#adapt);
    clearTimeout(this.#timer);
    this.#stream?.close();
  }
}
