// The timeline: when which task ran, by session.

import { get } from "../api.js";
import { h, fill, throttled } from "../dom.js";
import { clock, dateTime, duration } from "../format.js";
import { live } from "../live.js";

const SPANS = [[0.25, "15 min"], [1, "1 hour"], [4, "4 hours"], [12, "12 hours"], [24, "1 day"], [168, "1 week"]];
const TONES = { completed: "ok", failed: "bad", timed_out: "bad", lost: "bad", cancelled: "idle", running: "run", resumed: "run", cancelling: "run" };

export function open(main, { signal, parameters }) {
  let hours = Number(parameters.hours ?? localStorage.getItem("hours") ?? 4);
  const chart = h("div", { class: "gantt" });
  const choose = h("div", { class: "segmented", role: "group", "aria-label": "Time" }, SPANS.map(([value, words]) =>
    h("button", { "aria-pressed": String(value === hours), onclick: (event) => {
      hours = value;
      localStorage.setItem("hours", String(value));
      for (const button of event.target.parentElement.children) button.setAttribute("aria-pressed", String(button === event.target));
      load();
    } }, words)));
  fill(main, h("div", { class: "bar-top" }, h("h1", {}, "Timeline"), choose), chart);

  const load = throttled(1000, async () => {
    const read = await get("/timeline", { hours });
    if (signal.aborted) return;
    const [from, to] = [Date.parse(read.from), Date.parse(read.to)];
    const x = (time) => Math.max(0, Math.min(100, ((time - from) / (to - from)) * 100));
    const sessions = new Map();
    for (const lane of read.lanes) {
      if (!sessions.has(lane.session)) sessions.set(lane.session, []);
      sessions.get(lane.session).push(lane);
    }
    const ticks = 6;
    const axis = h("div", { class: "gantt-axis", "aria-hidden": "true" }, Array.from({ length: ticks + 1 }, (_, at) => {
      const mark = h("span", {}, axisWords(from + ((to - from) * at) / ticks, hours));
      mark.style.left = `${(at / ticks) * 100}%`;
      return mark;
    }));
    const bar = (lane, run) => {
      const [start, end] = [Date.parse(run.started_at), run.ended_at ? Date.parse(run.ended_at) : to];
      if (end < from) return null;
      const words = `${run.status.replace("_", " ")}, ${clock(run.started_at)}, ${duration(end - start)}`;
      const shape = h("a", { class: `gantt-bar ${TONES[run.status] ?? "idle"}`, href: `#/task/${encodeURIComponent(lane.id)}?run=${run.run}`, title: `${lane.what}\n${words}`, "aria-label": `${lane.what}: ${words}` });
      shape.style.left = `${x(start)}%`;
      shape.style.width = `max(3px, ${x(end) - x(start)}%)`;
      return shape;
    };
    const laneRow = (lane) => h("div", { class: "gantt-lane" },
      h("a", { class: "gantt-name", href: `#/task/${encodeURIComponent(lane.id)}`, title: lane.what }, lane.what),
      h("div", { class: "gantt-track" }, lane.runs.map((run) => bar(lane, run))));
    const group = ([session, lanes]) => h("section", { class: "gantt-session" }, h("h2", {}, session, h("span", { class: "count" }, String(lanes.length))), lanes.map(laneRow));
    fill(chart, read.lanes.length ? [h("div", { class: "gantt-lane gantt-head" }, h("span", { class: "gantt-name muted" }, dateTime(read.from).split(",")[0]), axis), [...sessions].map(group)] : h("p", { class: "nothing" }, "Nothing ran in this time."),
      read.truncated ? h("p", { class: "muted" }, "Only the newest 400 tasks are shown.") : null);
  });
  live.on("task reset", load, signal);
  const again = setInterval(() => { if (!document.hidden) load(); }, 5000);
  signal.addEventListener("abort", () => clearInterval(again));
  load();
  return { Escape: () => { location.hash = "#/"; } };
}

function axisWords(time, hours) {
  const date = new Date(time);
  const words = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return hours > 24 ? `${date.toLocaleDateString([], { weekday: "short" })} ${words}` : words;
}
