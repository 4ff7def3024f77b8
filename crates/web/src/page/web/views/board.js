// The board: what needs a person, what runs, what waits, what has ended.

import { get } from "../api.js";
import { h, fill, setText, throttled, toast } from "../dom.js";
import { ago, bytes, dateTime, duration, isEnded, label, sign, stateWords, tone, waits } from "../format.js";
import { live } from "../live.js";
import { change, copy, typeTo } from "../parts/actions.js";
import { sparkline } from "../parts/sparkline.js";
import { requestCard } from "./approvals.js";

const ROW = 38;
const TALL_ROW = 60;
const PAGE = 100;
const MOST_LIVE = 300;

/** A task in a list. It is updated in place, so that the focus stays. */
class Row {
  constructor(task) {
    this.sign = h("span", { class: "sign", "aria-hidden": "true" });
    this.title = h("span", { class: "title" });
    this.command = h("span", { class: "command mono" });
    this.state = h("span", { class: "row-state" });
    this.progress = h("span", { class: "progress" });
    this.usage = h("span", { class: "usage" });
    this.ports = h("span", { class: "ports" });
    this.session = h("span", { class: "session" });
    this.time = h("span", { class: "time", "data-tick": "" });
    this.spoken = h("span", { class: "hidden" });
    this.link = h("a", { class: "row-link" }, this.title, " ", this.command, this.spoken);
    this.element = h("div", { class: "row", role: "listitem" }, this.sign, this.link, this.state, this.progress, this.usage, this.ports, this.session, this.time);
    this.element.row = this;
    this.time.tick = () => this.#tick();
    this.update(task);
  }

  update(task) {
    this.task = task;
    const [title, command] = label(task);
    this.element.dataset.id = task.id;
    this.element.dataset.tone = tone(task);
    setText(this.sign, sign(task));
    setText(this.title, title);
    this.title.classList.toggle("mono", !task.name && !task.description);
    setText(this.command, command);
    this.link.href = `#/task/${encodeURIComponent(task.id)}`;
    this.link.title = `${task.id}\n${task.command}\n${task.cwd}`;
    setText(this.spoken, `, ${stateWords(task)}`);
    const exit = task.status === "failed" && task.exit_code !== null ? `exit ${task.exit_code}` : null;
    setText(this.state, exit ?? stateWords(task).replace(/^running( \(ready\))?$/, (_, ready) => (ready ? "ready" : "")));
    this.state.title = stateWords(task);
    this.#showProgress(task.progress);
    const owner = task.agent ? task.agent.name : task.session === "default" ? "" : task.session;
    setText(this.session, owner);
    const worktree = task.agent?.worktree ? `\nworktree ${task.agent.worktree}` : "";
    this.session.title = `session ${task.session}${task.batch_id ? `, batch ${task.batch_id}` : ""}\n${task.cwd}${worktree}`;
    if (isEnded(task)) fill(this.usage);
    this.#tick();
  }

  #showProgress(progress) {
    if (!progress || isEnded(this.task)) return fill(this.progress);
    const percent = progress.percent ?? null;
    const words = progress.text ?? (progress.total ? `${progress.done ?? 0}/${progress.total}` : "");
    const bar = h("span", { class: "bar", role: "progressbar", "aria-label": "progress", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": percent === null ? undefined : String(Math.round(percent)) });
    if (percent !== null) {
      const done = h("span", { class: "bar-done" });
      done.style.width = `${Math.min(100, Math.max(0, percent))}%`;
      bar.append(done);
    }
    fill(this.progress, percent === null ? null : bar, h("span", { class: "bar-words", title: words }, percent === null ? words : `${Math.round(percent)}%`));
  }

  #tick() {
    const { task } = this;
    if (isEnded(task)) {
      setText(this.time, `${duration(task.duration_ms)}${task.ended_at ? ` \u00b7 ${ago(task.ended_at)}` : ""}`);
      this.time.title = dateTime(task.ended_at);
    } else {
      const since = task.started_at ?? task.created_at;
      setText(this.time, duration(Math.max(0, Date.now() - Date.parse(since))));
      this.time.title = `since ${dateTime(since)}`;
    }
  }

  showUse(use) {
    if (!use) return;
    const [cpu, memory] = [use.cpu.at(-1), use.memory.at(-1)];
    fill(this.usage, use.cpu.length > 1 ? [
      sparkline(use.cpu, 25, `CPU ${cpu}%`), h("span", { class: "number" }, `${Math.round(cpu)}%`),
      sparkline(use.memory, 1 << 20, `memory ${bytes(memory)}`), h("span", { class: "number wide" }, bytes(memory)),
    ] : null);
    fill(this.ports, use.ports.slice(0, 3).map((port) =>
      h("a", { class: "port", href: `http://localhost:${port}/`, target: "_blank", rel: "noreferrer", "aria-label": `open port ${port}` }, `:${port}`)));
  }
}

/** Opens the view. */
export function open(main, { parameters, signal }) {
  const filter = { text: parameters.text ?? "", session: parameters.session ?? "", batch: parameters.batch ?? "", status: parameters.status ?? "", kind: parameters.kind ?? "" };
  const rows = new Map();
  const marked = new Set();
  let selected = null;
  let usage = {};
  let pages = new Map();
  let total = 0;
  let generation = 0;

  const search = h("input", { type: "search", class: "input search", placeholder: "Filter tasks", "aria-label": "Filter tasks", value: filter.text });
  const status = h("select", { class: "input", "aria-label": "State" },
    [["", "Any state"], ["live", "Live"], ["failed,timed_out,lost", "Failed"], ["completed", "Completed"], ["cancelled", "Cancelled"]]
      .map(([value, words]) => h("option", { value, selected: value === filter.status }, words)));
  const scope = h("span", { class: "scope" });
  const counts = h("div", { class: "counts", role: "status", "aria-label": "Tasks by state" });
  const bulk = h("div", { class: "bulk", hidden: true });
  const section = (name, title) => {
    const count = h("span", { class: "count" });
    const list = h("div", { class: "rows", role: "list", "aria-label": title });
    const element = h("section", { class: `group group-${name}`, hidden: true }, h("h2", {}, title, count), list);
    return { element, list, count };
  };
  const need = section("need", "Needs you");
  const running = section("running", "Running");
  const queued = section("queued", "Queued");
  const recent = section("recent", "Recent");
  const nothing = h("div", { class: "nothing", hidden: true });
  fill(main, h("h1", { class: "hidden" }, "Board"),
    h("div", { class: "bar-top" }, counts, h("div", { class: "filters" }, scope, search, status)), bulk,
    need.element, running.element, queued.element, recent.element, nothing);

  for (const key of ["session", "batch", "kind"]) {
    if (filter[key]) scope.append(h("a", { class: "chip", href: "#/", title: "Remove this filter" }, `${key}: ${filter[key]} \u00d7`));
  }

  const height = () => (matchMedia("(max-width: 720px)").matches ? TALL_ROW : ROW);
  const parametersOf = () => ({ text: filter.text, session: filter.session, batch: filter.batch, kind: filter.kind });
  const rowOf = (task) => {
    const row = rows.get(task.id);
    if (row) row.update(task);
    else rows.set(task.id, new Row(task));
    const known = rows.get(task.id);
    known.showUse(isEnded(task) ? null : usage[task.id]);
    known.element.classList.toggle("selected", selected === task.id);
    known.element.classList.toggle("marked", marked.has(task.id));
    return known.element;
  };
  const place = (part, elements, number) => {
    part.element.hidden = elements.length === 0;
    setText(part.count, number > elements.length ? `${elements.length} of ${number}` : String(number));
    const children = [...part.list.children];
    if (children.length !== elements.length || children.some((child, at) => child !== elements[at])) part.list.replaceChildren(...elements);
  };

  async function loadPage(page) {
    const mine = generation;
    const endedStatus = ["", "live"].includes(filter.status) ? "ended" : filter.status;
    const read = await get("/tasks", { ...parametersOf(), status: endedStatus, offset: page * PAGE, limit: PAGE });
    if (mine !== generation) return;
    pages.set(page, read.tasks);
    total = read.total;
  }

  function drawRecent() {
    const hides = filter.status === "live" || total === 0;
    recent.element.hidden = hides;
    if (hides) return;
    setText(recent.count, total.toLocaleString());
    const size = height();
    recent.list.style.height = `${total * size}px`;
    const top = recent.list.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(-top / size) - 10);
    const last = Math.min(total, Math.ceil((innerHeight - top) / size) + 10);
    const elements = [];
    const missing = new Set();
    for (let at = first; at < last; at += 1) {
      const task = pages.get(Math.floor(at / PAGE))?.[at % PAGE];
      if (!task) {
        missing.add(Math.floor(at / PAGE));
        continue;
      }
      const element = rowOf(task);
      element.style.top = `${at * size}px`;
      elements.push(element);
    }
    const children = [...recent.list.children];
    if (children.length !== elements.length || children.some((child, at) => child !== elements[at])) recent.list.replaceChildren(...elements);
    for (const page of missing) {
      if (pages.has(page)) continue;
      pages.set(page, []);
      loadPage(page).then(drawRecent).catch(() => pages.delete(page));
    }
  }

  async function load() {
    generation += 1;
    const wantsLive = ["", "live"].includes(filter.status);
    const shown = [...new Set([0, ...[...pages.keys()].filter((page) => onScreen(page))])];
    const mine = generation;
    const endedStatus = ["", "live"].includes(filter.status) ? "ended" : filter.status;
    const [alive, summary, ...ended] = await Promise.all([
      wantsLive ? get("/tasks", { ...parametersOf(), status: "live", limit: MOST_LIVE }) : { tasks: [], total: 0 },
      get("/summary"),
      ...shown.map((page) => get("/tasks", { ...parametersOf(), status: endedStatus, offset: page * PAGE, limit: PAGE })),
    ]);
    if (mine !== generation || signal.aborted) return;
    pages = new Map(shown.map((page, at) => [page, ended[at].tasks]));
    total = ended[0]?.total ?? 0;
    draw(alive, summary);
  }

  const onScreen = (page) => {
    const size = height();
    const top = recent.list.getBoundingClientRect().top + page * PAGE * size;
    return top < innerHeight && top + PAGE * size > 0;
  };

  let lastAlive = { tasks: [], total: 0 };
  function draw(alive, summary) {
    lastAlive = alive;
    for (const task of alive.tasks) if (task.status !== "pending") task.isRunning = true;
    const needs = alive.tasks.filter((task) => waits(task));
    const runs = alive.tasks.filter((task) => task.isRunning && !waits(task));
    const waiting = alive.tasks.filter((task) => task.status === "pending");
    const requests = live.approvals.filter((request) => (!filter.session || request.session === filter.session) && !filter.text && !filter.batch && !filter.kind && ["", "live"].includes(filter.status));
    drawNeeds(requests, needs);
    place(running, runs.map(rowOf), runs.length + (alive.total - alive.tasks.length));
    place(queued, waiting.map(rowOf), waiting.length);
    drawRecent();
    drawCounts(summary, needs.length + requests.length);
    const isEmpty = !alive.tasks.length && !total && !requests.length;
    nothing.hidden = !isEmpty;
    if (isEmpty) {
      fill(nothing, filter.text || filter.session || filter.batch || filter.status || filter.kind
        ? h("p", {}, "No task matches the filter.")
        : [h("p", { class: "big" }, "Nothing runs yet."), h("p", {}, "Start a task in a terminal, or let an agent do it:"), h("pre", { class: "mono" }, "mw start 'cargo test'")]);
    }
    for (const [id, row] of rows) if (!row.element.isConnected && rows.size > 2000) rows.delete(id);
  }

  let cards = new Map();
  function drawNeeds(requests, tasks) {
    const next = new Map(requests.map((request) => [request.id, cards.get(request.id) ?? requestCard(request, true)]));
    cards = next;
    place(need, [...next.values(), ...tasks.map(rowOf)], requests.length + tasks.length);
  }

  function drawCounts(summary, needed) {
    const states = summary.states;
    const runs = states.running + states.resumed + states.cancelling;
    const failed = states.failed + states.timed_out + states.lost;
    const item = (number, words, kind, value) => h("a", { class: `stat ${kind}`, href: value === undefined ? "#/approvals" : value ? `#/?status=${value}` : "#/" }, h("strong", {}, number.toLocaleString()), ` ${words}`);
    fill(counts, item(runs, "running", "run", "live"), needed ? item(needed, "waiting for you", "warn") : null, states.pending ? item(states.pending, "queued", "idle", "live") : null,
      failed ? item(failed, "failed", "bad", "failed,timed_out,lost") : null, item(states.completed, "completed", "ok", "completed"));
  }

  const refresh = throttled(600, () => load().catch(() => {}));
  const restart = () => {
    pages = new Map();
    refresh();
  };
  search.addEventListener("input", () => { filter.text = search.value.trim(); restart(); });
  status.addEventListener("change", () => { filter.status = status.value; restart(); });
  addEventListener("scroll", () => drawRecent(), { signal, passive: true });
  addEventListener("resize", () => drawRecent(), { signal });
  live.on("task total reset approvals", refresh, signal);

  const measure = async () => {
    if (signal.aborted) return;
    if (!document.hidden && lastAlive.tasks.some((task) => task.isRunning) && live.state === "connected") {
      usage = (await get("/usage").catch(() => ({ tasks: {} }))).tasks;
      for (const [id, use] of Object.entries(usage)) rows.get(id)?.showUse(use);
      // Progress has no events.
      if (lastAlive.tasks.some((task) => task.isRunning)) refresh();
    }
    setTimeout(measure, 2000);
  };
  measure();
  refresh();

  // Keys: those of mw top. A task has a position, also one that is not read yet: first those listed, then the ended ones.
  let position = -1;
  const listed = () => [need, running, queued].flatMap((part) => [...part.list.querySelectorAll(".row")].map((element) => element.dataset.id));
  const positionOf = (id) => {
    const ids = listed();
    const at = ids.indexOf(id);
    if (at !== -1) return at;
    for (const [page, tasks] of pages) {
      const found = tasks.findIndex((task) => task.id === id);
      if (found !== -1) return ids.length + page * PAGE + found;
    }
    return position;
  };
  const select = (id) => {
    if (selected) rows.get(selected)?.element.classList.remove("selected");
    selected = id;
    position = positionOf(id);
    const row = rows.get(id);
    row?.element.classList.add("selected");
    row?.link.focus({ preventScroll: true });
  };
  /** Scrolls until a row can be seen, below the bar at the top. */
  const bringIntoView = (top, size) => {
    const above = document.querySelector(".top").getBoundingClientRect().bottom + 8;
    const below = innerHeight - size - 8;
    if (top < above) scrollBy(0, top - above);
    else if (top > below) scrollBy(0, top - below);
  };
  async function selectAt(wanted) {
    const ids = listed();
    const count = ids.length + (recent.element.hidden ? 0 : total);
    if (!count) return;
    const at = Math.min(count - 1, Math.max(0, wanted));
    if (at < ids.length) {
      select(ids[at]);
      const { top, height: size } = rows.get(ids[at]).element.getBoundingClientRect();
      return bringIntoView(top, size);
    }
    const [page, index] = [Math.floor((at - ids.length) / PAGE), (at - ids.length) % PAGE];
    bringIntoView(recent.list.getBoundingClientRect().top + (at - ids.length) * height(), height());
    if (!pages.get(page)?.length) await loadPage(page);
    drawRecent();
    const task = pages.get(page)?.[index];
    if (task) select(task.id);
  }
  const move = (step) => selectAt(selected === null ? 0 : positionOf(selected) + step);
  main.addEventListener("focusin", (event) => {
    const row = event.target.closest?.(".row");
    if (row && row.dataset.id !== selected) {
      if (selected) rows.get(selected)?.element.classList.remove("selected");
      selected = row.dataset.id;
      position = positionOf(selected);
      row.classList.add("selected");
    }
  }, { signal });
  const mark = () => {
    if (!selected) return;
    if (!marked.delete(selected)) marked.add(selected);
    rows.get(selected)?.element.classList.toggle("marked", marked.has(selected));
    drawBulk();
    return move(1);
  };
  const drawBulk = () => {
    bulk.hidden = marked.size === 0;
    fill(bulk, `${marked.size} marked`, h("button", { class: "button", onclick: () => act("kill") }, "Kill"), h("button", { class: "button", onclick: () => act("restart") }, "Restart"),
      h("button", { class: "button", onclick: () => act("clear") }, "Remove"), h("button", { class: "button", onclick: unmark }, "Unmark"));
  };
  const unmark = () => {
    for (const id of marked) rows.get(id)?.element.classList.remove("marked");
    marked.clear();
    drawBulk();
  };
  const act = async (what) => {
    const ids = marked.size ? [...marked] : selected ? [selected] : [];
    if (!ids.length) return toast("No task is selected.");
    // After a no, the tasks stay marked.
    if (!(await change(what, ids.map((id) => rows.get(id)?.task ?? { id, command: id })))) return;
    unmark();
    refresh();
  };
  return {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    g: () => selectAt(0), G: () => selectAt(Infinity), Home: () => selectAt(0), End: () => selectAt(Infinity),
    " ": mark, Escape: () => { if (marked.size) unmark(); else if (filter.text || search.value) { search.value = filter.text = ""; restart(); } },
    Enter: () => { if (selected) location.hash = `#/task/${encodeURIComponent(selected)}`; },
    "/": () => { search.focus(); search.select(); }, f: () => status.focus(),
    x: () => act("kill"), r: () => act("restart"), c: () => act("clear"),
    i: () => selected && typeTo(selected),
    y: () => selected && copy(selected, "the id"), Y: () => selected && copy(rows.get(selected)?.task.output_path, "the path of the log"),
  };
}
