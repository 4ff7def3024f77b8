// The connection to the server: events, open approval requests, and whether the server is there.
//
// A browser has only six connections to a server for all its pages, so one page follows the events and tells them to the
// others. It is the one that was seen last, because the timers of hidden pages are slow.

import { EventStream, get } from "./api.js";

const SLOWEST = 5000;
/** The lock of the page that follows, and the channel on which it tells the others. */
const NAME = "meanwhile-events";

class Live extends EventTarget {
  approvals = [];
  state = "connecting";
  /** Whether this page follows the events for all pages. */
  isLeading = false;
  #seq = null;
  #instance = null;
  #source = null;
  #delay = 500;
  #timer;
  #others = new BroadcastChannel(NAME);

  start() {
    this.#others.onmessage = ({ data: { name, data, id } }) => this.#take(name, data, id);
    this.#lead(!document.hidden);
    this.#others.postMessage({ name: "who" });
    // A laptop that wakes up should not wait for a timeout.
    addEventListener("online", () => this.isLeading && this.#retry(0));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      if (!this.isLeading) this.#lead(true);
      else if (this.state !== "connected") this.#retry(0);
    });
  }

  /** Follows the events as soon as no other page does. `steals`: instead of the page that does. */
  async #lead(steals) {
    try {
      await navigator.locks.request(NAME, { steal: steals }, () => {
        this.isLeading = true;
        this.#connect();
        return new Promise(() => {});
      });
    } catch {
      // Another page does it now.
      this.isLeading = false;
      this.#source?.close();
      clearTimeout(this.#timer);
      this.#lead(false);
    }
  }

  #connect() {
    this.#source?.close();
    const tell = (name) => (data, id) => this.#share(name, data, id);
    const names = ["hello", "task", "approvals", "total", "reset"];
    this.#source = new EventStream("/events", { after: this.#seq }, { ...Object.fromEntries(names.map((name) => [name, tell(name)])), lost: () => this.#lost() });
  }

  #share(name, data, id) {
    this.#others.postMessage({ name, data, id });
    this.#take(name, data, id);
  }

  #take(name, data, id) {
    switch (name) {
      case "hello": {
        const isNew = this.#instance !== null && this.#instance !== data.instance;
        this.#instance = data.instance;
        this.#seq ??= data.last;
        this.#delay = 500;
        this.#set("connected");
        this.#asked(data.approvals);
        if (isNew) this.#tell("reset");
        break;
      }
      case "task":
        this.#seq = Number(id) || this.#seq;
        this.#tell("task", data);
        break;
      case "approvals":
        this.#asked(data.approvals);
        break;
      case "reset":
        this.#seq = data.last;
        this.#tell("reset");
        break;
      case "total":
      case "again":
        this.#tell(name === "total" ? "total" : "reset");
        break;
      case "state":
        this.#set(data);
        break;
      case "who":
        if (this.isLeading && this.state === "connected") this.#others.postMessage({ name: "hello", data: { instance: this.#instance, last: this.#seq, approvals: this.approvals } });
        break;
      default:
    }
  }

  #asked(open) {
    this.approvals = open;
    this.#tell("approvals", open);
  }

  #lost() {
    this.#share("state", "disconnected");
    this.#retry(this.#delay);
    this.#delay = Math.min(this.#delay * 2, SLOWEST);
  }

  #retry(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      try {
        await get("/summary");
        if (!this.isLeading) return;
        const was = this.state;
        this.#connect();
        if (was !== "connecting") this.#share("again");
      } catch (error) {
        if (!this.isLeading) return;
        this.#share("state", error.isSignedOut ? "signed out" : "disconnected");
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
