// The board: what needs a person, what runs, what waits, what has ended.

import { get } from "../api.js";
import { h, fill, setText, throttled } from "../dom.js";
import { isEnded, waits } from "../format.js";
import { live } from "../live.js";
import { EndedList } from "../parts/ended-list.js";
import { Selection } from "../parts/selection.js";
import { TaskRow } from "../parts/task-row.js";
import { noteOrder, requestCard } from "./approvals.js";

const MOST_LIVE = 300;
/** How many rows are kept that are not shown. */
const MOST_ROWS = 2000;

/** A group of rows with its title. */
class Group {
  constructor(name, title) {
    this.count = h("span", { class: "count" });
    this.list = h("div", { class: "rows", role: "list", "aria-label": title });
    this.element = h("section", { class: `group group-${name}`, hidden: true }, h("h2", {}, title, this.count), this.list);
  }

  /** Shows these elements. Those that are shown already are not touched. */
  show(elements) {
    const children = [...this.list.children];
    if (children.length !== elements.length || children.some((child, at) => child !== elements[at])) this.list.replaceChildren(...elements);
  }

  showAll(elements, number) {
    this.element.hidden = elements.length === 0;
    setText(this.count, number > elements.length ? `${elements.length} of ${number}` : String(number));
    this.show(elements);
  }
}

/** Opens the view. */
export function open(main, { parameters, signal }) {
  const filter = { text: parameters.text ?? "", session: parameters.session ?? "", batch: parameters.batch ?? "", status: parameters.status ?? "", kind: parameters.kind ?? "" };
  const rows = new Map();
  let usage = {};
  let generation = 0;

  const search = h("input", { type: "search", class: "input search", placeholder: "Filter tasks", "aria-label": "Filter tasks", value: filter.text });
  const status = h("select", { class: "input", "aria-label": "State" },
    [["", "Any state"], ["live", "Live"], ["failed,timed_out,lost", "Failed"], ["completed", "Completed"], ["cancelled", "Cancelled"]]
      .map(([value, words]) => h("option", { value, selected: value === filter.status }, words)));
  const scope = h("span", { class: "scope" });
  const counts = h("div", { class: "counts", role: "status", "aria-label": "Tasks by state" });
  const need = new Group("need", "Needs you");
  const running = new Group("running", "Running");
  const queued = new Group("queued", "Queued");
  const recent = new Group("recent", "Recent");
  const nothing = h("div", { class: "nothing", hidden: true });

  const isAnyState = () => filter.status === "";
  const wantsLive = () => isAnyState() || filter.status === "live";
  const parametersOf = (states) => ({ text: filter.text, session: filter.session, batch: filter.batch, kind: filter.kind, status: states });
  const rowOf = (task) => {
    const row = rows.get(task.id) ?? new TaskRow(task);
    if (rows.has(task.id)) row.update(task);
    else rows.set(task.id, row);
    row.showUse(isEnded(task) ? null : usage[task.id]);
    selection.show(row);
    return row.element;
  };
  const ended = new EndedList(recent, () => (filter.status === "live" ? null : parametersOf(isAnyState() ? "ended" : filter.status)), rowOf);
  const listed = () => [need, running, queued].flatMap((group) => [...group.list.querySelectorAll(".row")].map((element) => element.dataset.id));
  const selection = new Selection(rows, listed, ended, () => refresh());

  fill(main, h("h1", { class: "hidden" }, "Board"),
    h("div", { class: "bar-top" }, counts, h("div", { class: "filters" }, scope, search, status)), selection.bulk,
    need.element, running.element, queued.element, recent.element, nothing);
  for (const key of ["session", "batch", "kind"]) {
    if (filter[key]) scope.append(h("a", { class: "chip", href: "#/", title: "Remove this filter" }, `${key}: ${filter[key]} \u00d7`));
  }

  async function load() {
    generation += 1;
    const mine = generation;
    const [alive, summary, takeEnded] = await Promise.all([
      wantsLive() ? get("/tasks", { ...parametersOf("live"), limit: MOST_LIVE }) : { tasks: [], total: 0 },
      get("/summary"),
      ended.read(),
    ]);
    if (mine !== generation || signal.aborted) return;
    takeEnded();
    draw(alive, summary);
  }

  let runs = [];
  function draw(alive, summary) {
    const isQueued = (task) => task.status === "pending";
    const needs = alive.tasks.filter((task) => waits(task));
    const waiting = alive.tasks.filter(isQueued);
    runs = alive.tasks.filter((task) => !isQueued(task));
    const ordinary = runs.filter((task) => !waits(task));
    const requests = live.approvals.filter((request) => (!filter.session || request.session === filter.session) && !filter.text && !filter.batch && !filter.kind && wantsLive());
    drawNeeds(requests, needs);
    running.showAll(ordinary.map(rowOf), ordinary.length + (alive.total - alive.tasks.length));
    queued.showAll(waiting.map(rowOf), waiting.length);
    ended.draw();
    drawCounts(summary, needs.length + requests.length);
    const isEmpty = !alive.tasks.length && !ended.total && !requests.length;
    nothing.hidden = !isEmpty;
    if (isEmpty) {
      fill(nothing, Object.values(filter).some((one) => one)
        ? h("p", {}, "No task matches the filter.")
        : [h("p", { class: "big" }, "Nothing runs yet."), h("p", {}, "Start a task in a terminal, or let an agent do it:"), h("pre", { class: "mono" }, "mw start 'cargo test'")]);
    }
    if (rows.size > MOST_ROWS) for (const [id, row] of rows) if (!row.element.isConnected) rows.delete(id);
  }

  let cards = new Map();
  function drawNeeds(requests, tasks) {
    noteOrder([...cards.keys()], requests.map((request) => request.id));
    cards = new Map(requests.map((request) => [request.id, cards.get(request.id) ?? requestCard(request, true)]));
    need.showAll([...cards.values(), ...tasks.map(rowOf)], requests.length + tasks.length);
  }

  function drawCounts(summary, needed) {
    const states = summary.states;
    const active = states.running + states.resumed + states.cancelling;
    const failed = states.failed + states.timed_out + states.lost;
    const item = (number, words, kind, href) => h("a", { class: `stat ${kind}`, href }, h("strong", {}, number.toLocaleString()), ` ${words}`);
    fill(counts, item(active, "running", "run", "#/?status=live"), needed ? item(needed, "waiting for you", "warn", "#/approvals") : null, states.pending ? item(states.pending, "queued", "idle", "#/?status=live") : null,
      failed ? item(failed, "failed", "bad", "#/?status=failed,timed_out,lost") : null, item(states.completed, "completed", "ok", "#/?status=completed"));
  }

  // A hidden page reads nothing until it is seen again.
  const refresh = throttled(600, () => (document.hidden ? null : load().catch(() => {})));
  document.addEventListener("visibilitychange", () => refresh(), { signal });
  const restart = () => {
    ended.clear();
    refresh();
  };
  search.addEventListener("input", () => { filter.text = search.value.trim(); restart(); });
  status.addEventListener("change", () => { filter.status = status.value; restart(); });
  addEventListener("scroll", () => ended.draw(), { signal, passive: true });
  addEventListener("resize", () => ended.draw(), { signal });
  live.on("task total reset approvals", refresh, signal);
  main.addEventListener("focusin", (event) => {
    const id = event.target.closest?.(".row")?.dataset.id;
    if (id) selection.select(id);
  }, { signal });

  const measure = async () => {
    if (signal.aborted) return;
    if (!document.hidden && runs.length && live.state === "connected") {
      usage = (await get("/usage").catch(() => ({ tasks: {} }))).tasks;
      for (const [id, use] of Object.entries(usage)) rows.get(id)?.showUse(use);
      // Progress has no events.
      refresh();
    }
    setTimeout(measure, 2000);
  };
  measure();
  refresh();

  const unfilter = () => {
    if (!filter.text && !search.value) return;
    search.value = filter.text = "";
    restart();
  };
  return { ...selection.keys(unfilter), "/": () => { search.focus(); search.select(); }, f: () => status.focus() };
}
