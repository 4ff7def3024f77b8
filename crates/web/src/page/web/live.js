// The connection to the server: events, open approval requests, and whether the server is there.

import { EventStream, get } from "./api.js";

const SLOWEST = 5000;

class Live extends EventTarget {
  approvals = [];
  state = "connecting";
  #seq = null;
  #instance = null;
  #source = null;
  #delay = 500;

  start() {
    this.#connect();
    // A laptop that wakes up should not wait for a timeout.
    addEventListener("online", () => this.#retry(0));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.state !== "connected") this.#retry(0);
    });
  }

  #connect() {
    this.#source?.close();
    this.#source = new EventStream("/events", { after: this.#seq }, {
      lost: () => this.#lost(),
      hello: (hello) => {
        const isNew = this.#instance !== null && this.#instance !== hello.instance;
        this.#instance = hello.instance;
        this.#seq ??= hello.last;
        this.#delay = 500;
        this.#set("connected");
        this.#asked(hello.approvals);
        if (isNew) this.#tell("reset");
      },
      task: (row, id) => {
        this.#seq = Number(id) || this.#seq;
        this.#tell("task", row);
      },
      approvals: (open) => this.#asked(open.approvals),
      total: () => this.#tell("total"),
      reset: (reset) => {
        this.#seq = reset.last;
        this.#tell("reset");
      },
    });
  }

  #asked(open) {
    this.approvals = open;
    this.#tell("approvals", open);
  }

  #lost() {
    this.#set("disconnected");
    this.#retry(this.#delay);
    this.#delay = Math.min(this.#delay * 2, SLOWEST);
  }

  #retry(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        await get("/summary");
        const was = this.state;
        this.#connect();
        if (was !== "connecting") this.#tell("reset");
      } catch (error) {
        this.#source = null;
        this.#set(error.isSignedOut ? "signed out" : "disconnected");
        this.#retry(this.#delay);
        this.#delay = Math.min(this.#delay * 2, SLOWEST);
      }
    }, delay);
  }

  #set(state) {
    if (this.state === state) return;
    this.state = state;
    this.#tell("state", state);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Calls a function for every event of these names, until the view is left. */
  on(names, work, signal) {
    for (const name of names.split(" ")) this.addEventListener(name, (event) => work(event.detail, name), { signal });
  }
}

export const live = new Live();
