// One task: its log, and its other sides in tabs.

import { get } from "../api.js";
import { h, fill, portLink, setText, throttled, toast } from "../dom.js";
import { ago, bytes, duration, isEnded, label, sign, stateWords, tone } from "../format.js";
import { live } from "../live.js";
import { LogPane } from "../parts/log.js";
import { sparkline } from "../parts/sparkline.js";
import { waterfall } from "../parts/waterfall.js";
import { change, copy, typeTo } from "../parts/actions.js";
import { details } from "../parts/task-details.js";
import { Transcript } from "../parts/transcript.js";

const STREAMS = ["both", "stdout", "stderr", "split"];

export function open(main, { argument: id, parameters, signal }) {
  let task = null;
  let history = null;
  let approval = null;
  let tab = parameters.tab ?? "log";
  let stream = STREAMS.includes(localStorage.getItem("stream")) ? localStorage.getItem("stream") : "both";
  let run = parameters.run ? Number(parameters.run) : null;
  let panes = [];
  let shown = null;
  let drawnFacts = "";

  const signElement = h("span", { class: "sign big", "aria-hidden": "true" });
  const title = h("h1", {});
  const state = h("span", { class: "state-words" });
  const time = h("span", { class: "muted", "data-tick": "" });
  const command = h("pre", { class: "command-text mono", tabindex: "0", role: "group", "aria-label": "Command" });
  const meta = h("p", { class: "muted meta" });
  const meters = h("div", { class: "meters" });
  const button = (text, work, className = "") => h("button", { class: `button ${className}`, onclick: () => Promise.resolve(work()).catch((error) => toast(error.message, "error")) }, text);
  const buttons = {
    kill: button("Kill", () => act("kill"), "danger"),
    restart: button("Restart", () => act("restart")),
    input: button("Input\u2026", () => typeTo(task.id)),
    clear: button("Remove", () => act("clear")),
  };
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the task" });
  const body = h("div", { class: "task-body", role: "tabpanel", "aria-label": "Part of the task" });
  // Hidden until the task is known.
  const head = h("header", { class: "task-head", hidden: true },
    h("div", { class: "task-title" }, h("a", { class: "back", href: "#/", "aria-label": "Back to the board" }, "\u2190"), signElement, title, state, time, h("span", { class: "grow" }), Object.values(buttons)),
    command, h("div", { class: "meta-line" }, meta, meters));
  fill(main, head, tabs, body);

  const act = async (what) => {
    const done = await change(what, [task]);
    if (what === "clear" && done) location.hash = "#/";
    await load();
  };

  // The tabs.
  const TABS = () => [["log", "Log"], ["details", "Details"], ["trace", "Trace"], ...(task?.kind === "agent" ? [["transcript", "Transcript"]] : [])];
  const drawTabs = () => fill(tabs, TABS().map(([name, words]) => h("button", {
    role: "tab", "aria-selected": String(name === tab), tabindex: name === tab ? "0" : "-1", onclick: () => choose(name),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.stopPropagation();
      const names = TABS().map(([other]) => other);
      choose(names[(names.indexOf(tab) + step + names.length) % names.length]);
      tabs.querySelector("[aria-selected=true]").focus();
    },
  }, words)));
  const choose = (name) => {
    tab = name;
    drawTabs();
    drawBody(true);
  };
  const closePanes = () => {
    panes.forEach((pane) => pane.destroy());
    panes = [];
    shown = null;
  };
  signal.addEventListener("abort", closePanes);

  function drawBody(isNew) {
    if (!task) return;
    body.dataset.tab = tab;
    if (tab === "log") return drawLog(isNew);
    closePanes();
    if (tab === "details") fill(body, details(task, history, approval));
    else if (tab === "trace") drawTrace();
    else drawTranscript();
  }

  // The log.
  const find = h("input", { type: "search", class: "input", placeholder: "Search the log (/regex/)", "aria-label": "Search the log" });
  const found = h("span", { class: "muted found", role: "status" });
  const followButton = h("button", { class: "button toggle", "aria-pressed": "true", onclick: () => panes.forEach((pane) => pane.follow(!pane.follows)) }, "Follow");
  const wrapButton = h("button", { class: "button toggle", "aria-pressed": "false", onclick: () => wrap() }, "Wrap");
  const streamSelect = h("select", { class: "input", "aria-label": "Streams", onchange: () => chooseStream(streamSelect.value) },
    [["both", "stdout + stderr"], ["stdout", "stdout"], ["stderr", "stderr"], ["split", "side by side"]].map(([value, words]) => h("option", { value }, words)));
  const runSelect = h("select", { class: "input", "aria-label": "Run", onchange: () => { run = Number(runSelect.value) === task.runs ? null : Number(runSelect.value); drawLog(true); } });
  const toolbar = h("div", { class: "log-tools" }, find, found,
    h("button", { class: "icon-button", "aria-label": "Previous match", onclick: () => again(-1) }, "\u2191"), h("button", { class: "icon-button", "aria-label": "Next match", onclick: () => again(1) }, "\u2193"),
    h("span", { class: "grow" }), runSelect, streamSelect, wrapButton, followButton);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") again(event.shiftKey ? -1 : 1);
  });
  const again = (step) => (find.value === lastSearch ? go(step) : search()).catch((error) => toast(error.message, "error"));
  find.addEventListener("search", () => { if (!find.value && lastSearch) search(); });
  let lastSearch = "";
  const foundWords = (result) => `${result.number ? `${result.number} of ` : ""}${result.count.toLocaleString()}${result.hasMore ? "+" : ""} matches`;
  async function search() {
    lastSearch = find.value;
    setText(found, find.value ? "searching\u2026" : "");
    const results = await Promise.all(panes.map((pane) => pane.search(find.value))).catch((error) => {
      setText(found, "");
      throw error;
    });
    if (!find.value) return;
    setText(found, results.some((result) => result.count) ? "" : "no match");
    await go(1);
  }
  async function go(step) {
    const results = (await Promise.all(panes.map((pane) => pane.go(step)))).filter(Boolean);
    if (results.length) setText(found, results.map(foundWords).join(" \u00b7 "));
  }
  const wrap = () => {
    panes.forEach((pane) => pane.wrap(!pane.wraps));
    wrapButton.setAttribute("aria-pressed", String(panes[0]?.wraps ?? false));
    localStorage.setItem("wrap", String(panes[0]?.wraps ?? false));
  };
  const chooseStream = (value) => {
    stream = value;
    localStorage.setItem("stream", value);
    drawLog(true);
  };

  function drawLog(isNew) {
    const number = Math.max(1, run ?? task.runs);
    const wanted = `${number} ${stream}`;
    streamSelect.value = stream;
    if (runSelect.options.length !== Math.max(1, task.runs)) {
      fill(runSelect, Array.from({ length: Math.max(1, task.runs) }, (_, at) => h("option", { value: String(at + 1) }, `run ${at + 1}`)));
    }
    runSelect.value = String(number);
    runSelect.hidden = task.runs < 2;
    if (!isNew && shown === wanted) return;
    if (task.runs === 0) {
      closePanes();
      fill(body, h("p", { class: "nothing" }, isEnded(task) ? "It never ran." : "It has not started yet."));
      return;
    }
    closePanes();
    shown = wanted;
    lastSearch = "";
    setText(found, "");
    const streams = stream === "split" ? ["stdout", "stderr"] : [stream];
    panes = streams.map((name) => {
      const pane = new LogPane(`Log of ${task.name ?? task.id}, ${name}`);
      pane.onfollow = (on) => followButton.setAttribute("aria-pressed", String(on));
      if (localStorage.getItem("wrap") === "true") pane.wrap(true);
      pane.open({ id: task.id, run: number, stream: name });
      return pane;
    });
    wrapButton.setAttribute("aria-pressed", String(panes[0].wraps));
    fill(body, toolbar, stream === "split" ? h("div", { class: "split" }, panes.map((pane, at) => h("div", {}, h("h3", {}, streams[at]), pane.element))) : panes[0].element);
  }

  // The other tabs.
  async function drawTrace() {
    try {
      const trace = await get(`/traces/${encodeURIComponent(task.id)}`);
      if (tab === "trace") fill(body, h("div", { class: "card" }, waterfall(trace)));
    } catch (error) {
      fill(body, h("p", { class: "nothing" }, error.message));
    }
  }

  const transcript = new Transcript();
  async function drawTranscript() {
    const read = await get(`/tasks/${encodeURIComponent(task.id)}/transcript`).catch(() => null);
    if (tab !== "transcript" || !read || signal.aborted) return;
    transcript.show(history?.turns ?? [], read);
    if (!transcript.element.isConnected) fill(body, transcript.element);
  }

  // The head.
  function drawHead() {
    head.hidden = tabs.hidden = false;
    const [words, line] = label(task);
    signElement.textContent = sign(task);
    signElement.dataset.tone = tone(task);
    setText(title, words);
    title.classList.toggle("mono", !task.name && !task.description);
    command.hidden = !line;
    setText(command, line);
    setText(state, stateWords(task));
    state.dataset.tone = tone(task);
    fill(meta, h("code", {}, task.id), ` \u00b7 ${task.session} \u00b7 `, h("span", { title: task.cwd, class: "mono" }, task.cwd), task.batch_id ? ` \u00b7 batch ${task.batch_id}` : "", ` \u00b7 ${bytes(task.output_bytes)}`);
    buttons.kill.disabled = isEnded(task) && task.survivors === 0;
    buttons.clear.hidden = !isEnded(task);
    buttons.input.hidden = !(history?.takes_input && !isEnded(task));
    tick();
  }
  const tick = () => {
    if (!task) return;
    const running = task.started_at ? Date.now() - Date.parse(task.started_at) : null;
    setText(time, isEnded(task) ? `${duration(task.duration_ms)}, ${ago(task.ended_at)}` : duration(running));
  };
  time.tick = tick;

  async function load() {
    try {
      const [read, more] = await Promise.all([get(`/tasks/${encodeURIComponent(id)}`), get(`/tasks/${encodeURIComponent(id)}/history`)]);
      if (signal.aborted) return;
      const isFirst = task === null;
      [task, history] = [read, more];
      if (task.proposal && task.proposal !== approval?.id) approval = await get(`/approvals/${task.proposal}`).catch(() => null);
      drawHead();
      if (isFirst || tabs.children.length !== TABS().length) drawTabs();
      // What is selected in a text stays selected as long as nothing changes.
      const facts = JSON.stringify([read.status, read.survivors, read.ports, read.ready, approval, more]);
      if (isFirst || tab === "log" || tab === "transcript" || facts !== drawnFacts) drawBody(false);
      drawnFacts = facts;
    } catch (error) {
      if (signal.aborted) return;
      // Only a task that is gone is replaced; others stay while the server is away.
      if (error.status !== 404) return task ? undefined : fill(body, h("p", { class: "nothing" }, error.message));
      closePanes();
      task = null;
      head.hidden = tabs.hidden = true;
      fill(body, h("div", { class: "nothing" }, h("p", { class: "big" }, `There is no task ${id}.`), h("p", {}, "It may have been removed."), h("p", {}, h("a", { class: "button", href: "#/" }, "Back to the board"))));
    }
  }
  const refresh = throttled(700, load);
  live.on("task", (row) => { if (row.task === task?.id || task === null) refresh(); }, signal);
  live.on("reset", refresh, signal);

  const measure = async () => {
    if (signal.aborted) return;
    if (task && !isEnded(task) && !document.hidden && live.state === "connected") {
      const use = (await get("/usage").catch(() => ({ tasks: {} }))).tasks[task.id];
      if (use && use.cpu.length > 1) {
        fill(meters, sparkline(use.cpu, 25, "CPU"), h("span", { class: "number" }, `${Math.round(use.cpu.at(-1))}% CPU`), sparkline(use.memory, 1 << 20, "memory"), h("span", { class: "number" }, bytes(use.memory.at(-1))),
          use.ports.map(portLink));
      }
      refresh();
    } else if (task && isEnded(task)) fill(meters);
    setTimeout(measure, 2000);
  };
  load().then(measure);

  const scroll = (by) => panes.forEach((pane) => pane.scroll(by));
  return {
    x: () => act("kill"), r: () => act("restart"), c: () => act("clear"), i: () => typeTo(task.id),
    "/": () => { choose("log"); find.focus(); find.select(); }, n: () => again(1), N: () => again(-1),
    F: () => panes.forEach((pane) => pane.follow(!pane.follows)), w: wrap, o: () => chooseStream(STREAMS[(STREAMS.indexOf(stream) + 1) % STREAMS.length]),
    1: () => choose("log"), 2: () => choose("details"), 4: () => choose("trace"),
    j: () => scroll(1), k: () => scroll(-1), ArrowDown: () => scroll(1), ArrowUp: () => scroll(-1), PageDown: () => scroll(25), PageUp: () => scroll(-25), " ": () => scroll(25),
    g: () => scroll("home"), G: () => scroll("end"), Home: () => scroll("home"), End: () => scroll("end"),
    y: () => copy(task.id, "the id"), Y: () => copy(task.output_path, "the path of the log"), Escape: () => { location.hash = "#/"; },
  };
}
