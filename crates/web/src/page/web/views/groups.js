// Sessions, batches and agents.

import { get } from "../api.js";
import { h, fill, throttled } from "../dom.js";
import { ago, dateTime, duration, label, sign, stateWords, tail, tone } from "../format.js";
import { live } from "../live.js";

const NUMBERS = ["Live", "Tasks", "Undelivered", "Took", "Time"];
const table = (label, titles, rows) => h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": label },
  h("table", {}, h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col", class: NUMBERS.includes(title) ? "number" : "" }, title)))), h("tbody", {}, rows)));
const cell = (content, className = "") => h("td", { class: className }, content);
const link = (hash, text) => h("a", { href: hash }, text);

async function sessions(element) {
  const { sessions: all } = await get("/sessions");
  const row = (session) => h("tr", {}, cell(link(`#/?session=${encodeURIComponent(session.id)}`, session.id)), cell(session.live ? h("strong", { class: "run-text" }, String(session.live)) : "0", "number"),
    cell(String(session.tasks), "number"), cell(session.notices ? String(session.notices) : "", "number"), cell(session.hosts ? `${session.hosts} connected` : h("span", { class: "muted" }, "none")));
  fill(element, all.length ? table("Sessions", ["Session", "Live", "Tasks", "Undelivered", "Hosts"], all.map(row)) : h("p", { class: "nothing" }, "No session has tasks."));
}

async function batches(element) {
  const { batches: all } = await get("/batches");
  const bad = (states) => (states.failed ?? 0) + (states.timed_out ?? 0) + (states.lost ?? 0);
  const row = (batch) => {
    const done = batch.tasks - batch.live;
    const bar = h("span", { class: "bar", role: "progressbar", "aria-label": "ended tasks", "aria-valuemin": "0", "aria-valuemax": String(batch.tasks), "aria-valuenow": String(done) }, h("span", { class: `bar-done ${bad(batch.states) ? "bad" : ""}` }));
    bar.firstChild.style.width = `${(done / batch.tasks) * 100}%`;
    const words = Object.entries(batch.states).map(([state, number]) => `${number} ${state.replace("_", " ")}`).join(", ");
    return h("tr", {}, cell(link(`#/?batch=${encodeURIComponent(batch.id)}`, batch.id)), cell(h("span", { class: "progress" }, bar, `${done}/${batch.tasks}`)), cell(words), cell(batch.session, "muted"),
      cell(h("span", { title: dateTime(batch.created_at) }, ago(batch.created_at)), "muted"), cell(batch.ended_at ? duration(Date.parse(batch.ended_at) - Date.parse(batch.created_at)) : "", "number"));
  };
  fill(element, all.length ? table("Batches", ["Batch", "Ended", "States", "Session", "Begun", "Took"], all.map(row)) : h("p", { class: "nothing" }, "No task belongs to a batch."));
}

async function agents(element) {
  const [{ agents: known }, { tasks }] = await Promise.all([get("/agents"), get("/tasks", { kind: "agent", limit: 200 })]);
  const row = (task) => h("tr", {}, cell(h("span", { class: "sign", "data-tone": tone(task), title: stateWords(task) }, sign(task))), cell(link(`#/task/${encodeURIComponent(task.id)}?tab=transcript`, label(task)[0]), "wide-cell"),
    cell(stateWords(task)), cell(task.session), cell(task.agent?.worktree ? tail(task.agent.worktree) : tail(task.cwd), "mono muted"), cell(duration(task.duration_ms), "number"));
  fill(element, tasks.length ? table("Tasks of agents", ["", "Task", "State", "Session", "Directory", "Time"], tasks.map(row)) : h("p", { class: "nothing" }, "No agent has run as a task yet."),
    h("h2", {}, "Available agents"), known.length ? table("Available agents", ["Agent", "Command"], known.map((agent) => h("tr", {}, cell(agent.name), cell(agent.command, "mono muted")))) : h("p", { class: "muted" }, "None is configured or installed."));
}

const VIEWS = { sessions: ["Sessions", sessions], batches: ["Batches", batches], agents: ["Agents", agents] };

export function open(main, { name, signal }) {
  const [title, draw] = VIEWS[name];
  const content = h("div", {});
  fill(main, h("h1", {}, title), content);
  const load = throttled(1000, () => draw(content).catch((error) => fill(content, h("p", { class: "nothing" }, error.message))));
  live.on("task total reset", load, signal);
  load();
  return { Escape: () => { location.hash = "#/"; } };
}
