// The selected task and the marked ones of the board, and what the keys of `mw top` do with them.

import { h, fill, toast } from "../dom.js";
import { change, copy, typeTo } from "./actions.js";

export class Selection {
  /** The buttons for marked tasks. */
  bulk = h("div", { class: "bulk", hidden: true });
  #rows;
  #listed;
  #ended;
  #refresh;
  #selected = null;
  /** The place of the selected task: first those listed, then the ended ones, also those that are not read yet. */
  #position = -1;
  #marked = new Set();

  /** `rows` are the rows by id, `listed` returns the ids above the ended tasks, `refresh` is called after a change. */
  constructor(rows, listed, ended, refresh) {
    this.#rows = rows;
    this.#listed = listed;
    this.#ended = ended;
    this.#refresh = refresh;
  }

  /** Shows on a row whether its task is selected or marked. */
  show(row) {
    row.element.classList.toggle("selected", this.#selected === row.task.id);
    row.element.classList.toggle("marked", this.#marked.has(row.task.id));
  }

  #showAgain(id) {
    const row = this.#rows.get(id);
    if (row) this.show(row);
  }

  #positionOf(id) {
    const ids = this.#listed();
    const at = ids.indexOf(id);
    if (at !== -1) return at;
    const ended = this.#ended.positionOf(id);
    return ended === -1 ? this.#position : ids.length + ended;
  }

  /** Selects a task, whose row may have the focus already. */
  select(id) {
    const before = this.#selected;
    this.#selected = id;
    this.#position = this.#positionOf(id);
    if (before) this.#showAgain(before);
    this.#showAgain(id);
  }

  #focus(id) {
    this.select(id);
    this.#rows.get(id)?.link.focus({ preventScroll: true });
  }

  async #selectAt(wanted) {
    const ids = this.#listed();
    const count = ids.length + this.#ended.total;
    if (!count) return;
    const at = Math.min(count - 1, Math.max(0, wanted));
    if (at < ids.length) {
      this.#focus(ids[at]);
      return bringIntoView(this.#rows.get(ids[at]).element.getBoundingClientRect());
    }
    bringIntoView(this.#ended.placeOf(at - ids.length));
    const task = await this.#ended.taskAt(at - ids.length);
    if (task) this.#focus(task.id);
  }

  #move(step) {
    return this.#selectAt(this.#selected === null ? 0 : this.#positionOf(this.#selected) + step);
  }

  #mark() {
    const id = this.#selected;
    if (!id) return;
    if (!this.#marked.delete(id)) this.#marked.add(id);
    this.#showAgain(id);
    this.#drawBulk();
    return this.#move(1);
  }

  /** Removes all marks. Returns whether there were any. */
  #unmark() {
    const marked = [...this.#marked];
    this.#marked.clear();
    marked.forEach((id) => this.#showAgain(id));
    this.#drawBulk();
    return marked.length > 0;
  }

  #drawBulk() {
    this.bulk.hidden = this.#marked.size === 0;
    const button = (words, work) => h("button", { class: "button", onclick: () => Promise.resolve(work()).catch((error) => toast(error.message, "error")) }, words);
    fill(this.bulk, `${this.#marked.size} marked`, button("Kill", () => this.#act("kill")), button("Restart", () => this.#act("restart")),
      button("Remove", () => this.#act("clear")), button("Unmark", () => this.#unmark()));
  }

  async #act(what) {
    const ids = this.#marked.size ? [...this.#marked] : this.#selected ? [this.#selected] : [];
    if (!ids.length) return toast("No task is selected.");
    // After a no, the tasks stay marked.
    if (!(await change(what, ids.map((id) => this.#rows.get(id)?.task ?? { id, command: id })))) return;
    this.#unmark();
    this.#refresh();
  }

  /** What the keys do. `leave` is called for Escape if nothing is marked. */
  keys(leave) {
    const ifSelected = (work) => () => (this.#selected ? work(this.#selected) : undefined);
    const down = () => this.#move(1);
    const up = () => this.#move(-1);
    const first = () => this.#selectAt(0);
    const last = () => this.#selectAt(Infinity);
    return {
      j: down, ArrowDown: down, k: up, ArrowUp: up, g: first, Home: first, G: last, End: last,
      " ": () => this.#mark(), Escape: () => this.#unmark() || leave(),
      Enter: ifSelected((id) => { location.hash = `#/task/${encodeURIComponent(id)}`; }),
      x: () => this.#act("kill"), r: () => this.#act("restart"), c: () => this.#act("clear"),
      i: ifSelected(typeTo), y: ifSelected((id) => copy(id, "the id")),
      Y: ifSelected((id) => copy(this.#rows.get(id)?.task.output_path, "the path of the log")),
    };
  }
}

/** Scrolls until a row can be seen, below the bar at the top. */
function bringIntoView({ top, height }) {
  const above = document.querySelector(".top").getBoundingClientRect().bottom + 8;
  const below = innerHeight - height - 8;
  if (top < above) scrollBy(0, top - above);
  else if (top > below) scrollBy(0, top - below);
}
