// Numbers, times and states in words.

const SIGNS = {
  pending: "\u25cb", running: "\u25cf", resumed: "\u25cf", cancelling: "\u25d0", completed: "\u2713",
  failed: "\u2717", cancelled: "\u2298", timed_out: "\u29d6", lost: "?",
};

const ENDED = ["completed", "failed", "cancelled", "timed_out", "lost"];
const BAD = ["failed", "timed_out", "lost"];

export const isEnded = (task) => ENDED.includes(task.status);
export const isBad = (task) => BAD.includes(task.status);

/** What a running task needs from a person. */
export function waits(task) {
  if (isEnded(task) || task.status === "pending") return null;
  if (task.agent?.activity?.waiting) return "permission";
  return task.stalled ? "input" : null;
}

export const sign = (task) => (waits(task) ? "!" : SIGNS[task.status] ?? "?");

/** The group of states that share a colour. */
export function tone(task) {
  if (waits(task)) return "warn";
  if (task.status === "completed") return "ok";
  if (BAD.includes(task.status)) return "bad";
  if (task.status === "pending" || task.status === "cancelled") return "idle";
  return "run";
}

export function stateWords(task) {
  const need = waits(task);
  if (need) return `waiting for ${need}`;
  if (task.status === "pending") {
    if (task.waiting_for) return `queued, after ${task.waiting_for}`;
    return task.queue_position ? `queued, position ${task.queue_position}` : "queued";
  }
  if (!isEnded(task)) return task.ready ? `${task.status} (ready)` : task.status;
  const word = task.status.replace("_", " ");
  if (!task.cause || task.status === "completed") return word;
  return task.cause.startsWith(word) ? task.cause : `${word} (${task.cause})`;
}

/** The label of a task: a title, and the command if that is something else. */
export function label(task) {
  if (task.name) return [task.name, task.command];
  if (task.description) return [task.description, task.command];
  return [task.command, ""];
}

export function duration(ms) {
  if (ms === null || ms === undefined) return "";
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return `${ms} ms`;
  if (seconds < 60) return `${seconds}s`;
  const pad = (number) => String(number).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h ${pad(Math.floor((seconds % 3600) / 60))}m`;
  return `${Math.floor(seconds / 86400)}d ${Math.floor((seconds % 86400) / 3600)}h`;
}

export function ago(time) {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time)) / 1000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86400)}d ago`;
}

export function bytes(count) {
  if (count === null || count === undefined) return "";
  if (count < 1024) return `${count} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let unit = -1;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export const clock = (time) =>
  time ? new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : "";

export const dateTime = (time) => (time ? new Date(time).toLocaleString() : "");

/** The last parts of a path. */
export function tail(path, parts = 2) {
  const names = (path ?? "").split("/").filter(Boolean);
  return names.length > parts ? `\u2026/${names.slice(-parts).join("/")}` : path;
}
