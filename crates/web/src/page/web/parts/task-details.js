// What is known about a task: facts, its approval, kill receipts, runs, events, names of variables.

import { h, portLink, visible, withCode } from "../dom.js";
import { bytes, clock, dateTime, duration } from "../format.js";

const section = (name, content) => h("section", { class: "card" }, h("h2", {}, name), content);
const fact = (name, value) => (value === null || value === undefined || value === "" ? null : [h("dt", {}, name), h("dd", {}, value)]);

/** Shows a task, its history, and its approval request if it had one. */
export function details(task, history, approval) {
  const approved = task.approved_by ? `by ${task.approved_by}, ${dateTime(task.approved_at)}` : null;
  const ports = (task.ports ?? []).map(portLink);
  const facts = h("dl", { class: "facts" }, [
    fact("Id", h("code", {}, task.id)), fact("Session", h("a", { href: `#/?session=${encodeURIComponent(task.session)}` }, task.session)),
    fact("Batch", task.batch_id && h("a", { href: `#/?batch=${encodeURIComponent(task.batch_id)}` }, task.batch_id)), fact("Directory", h("code", {}, task.cwd)), fact("Worktree", task.agent?.worktree && h("code", {}, task.agent.worktree)),
    fact("Agent", task.agent?.name), fact("Parent session", task.parent_session), fact("Message", task.parent_message), fact("Place", task.place),
    fact("Requested", dateTime(task.created_at)), fact("Started", dateTime(task.started_at)), fact("Ready", dateTime(task.ready)), fact("Ended", dateTime(task.ended_at)),
    fact("Duration", duration(task.duration_ms)), fact("Exit code", task.exit_code === null ? null : String(task.exit_code)), fact("Signal", task.signal), fact("Cause", task.cause), fact("Process", task.pid === null ? null : String(task.pid)),
    fact("Ports", ports.length ? ports : null), fact("Left behind", task.survivors ? `${task.survivors} processes` : null), fact("Lifetime", task.lifetime === "detached" ? "detached" : "ends with its session"), fact("Deadline", dateTime(task.deadline)),
    fact("Approved", approved && [approved, task.proposal ? h("code", {}, ` ${task.proposal}`) : null]), fact("Trace", task.trace_id && h("code", {}, task.trace_id)),
    fact("Output", `${bytes(task.output_bytes)}${task.dropped_bytes ? `, ${bytes(task.dropped_bytes)} dropped` : ""}`), fact("Log file", h("code", {}, task.output_path)),
  ]);
  const runs = history?.runs ?? [];
  const runRow = (one) => h("tr", {}, h("td", {}, h("a", { href: `#/task/${encodeURIComponent(task.id)}?run=${one.run}` }, `run ${one.run}`)), h("td", {}, one.status.replace("_", " ")), h("td", { class: "muted" }, dateTime(one.started_at)),
    h("td", { class: "number" }, duration((one.ended_at ? Date.parse(one.ended_at) : Date.now()) - Date.parse(one.started_at))));
  const events = (history?.events ?? []).map((row) => h("li", {}, h("span", { class: "muted mono" }, clock(row.at)), ` ${eventWords(row)}`));
  const variables = history?.variables ?? [];
  const killed = runs.filter((one) => one.signals?.length);
  return h("div", { class: "details" }, section("Facts", facts), h("div", { class: "column" },
    approval ? section("Approval", approvalRecord(approval)) : null,
    killed.map((one) => section(runs.length > 1 ? `Kill receipt of run ${one.run}` : "Kill receipt", receipt(one))),
    section("Runs", h("table", {}, h("tbody", {}, runs.map(runRow)))), section("Events", h("ul", { class: "plain-list events" }, events)),
    section(`Variables (${variables.length})`, [h("p", { class: "muted" }, "Names only; values are not shown."), h("p", { class: "mono variables" }, variables.map((name) => h("span", { class: "chip" }, name)))])));
}

const list = (items, className = "") => (items.length ? h("ul", { class: `plain-list ${className}` }, items.map((item) => h("li", {}, item))) : null);

/** Who approved the command, and what was known then. */
const approvalRecord = (approval) => h("dl", { class: "facts" }, [
  fact("Request", h("code", {}, approval.id)), fact("Requested", dateTime(approval.asked_at)),
  fact("Approved by", approval.answered_by && `${approval.answered_by}, ${dateTime(approval.answered_at)}${approval.for_session ? ", for its session" : ""}`),
  fact("Command", h("code", {}, visible(approval.command))), fact("Effects", list(approval.effects.map((one) => withCode(visible(one))))),
  fact("Why it asked", list(approval.reasons.map((one) => withCode(visible(one))))), fact("Rules", list(approval.rules)),
]);

/** What meanwhile did to end a run. */
const receipt = (run) => [
  list(run.signals.map((sent) => [h("span", { class: "muted" }, clock(sent.at)), ` ${sent.signal}`]), "mono"),
  h("p", { class: "muted" }, run.left_behind?.length ? "Left behind:" : "No process was left behind."),
  list((run.left_behind ?? []).map((one) => `${one.pid} ${one.command}`), "mono"),
];

function eventWords(row) {
  switch (row.event) {
    case "reserved": return "requested";
    case "started": return `run ${row.run} started`;
    case "kill_requested": return `kill requested by ${row.by}`;
    case "ended": return `run ${row.run} ended`;
    case "stalled": return `waits for input: ${row.prompt}`;
    case "ready": return `ready: ${row.what}`;
    case "requeued": return `run ${row.run} requested (${row.origin})`;
    case "reassigned": return `moved from session ${row.from} to ${row.to}`;
    default: return String(row.event ?? "").replaceAll("_", " ");
  }
}
