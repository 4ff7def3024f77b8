// What a person does with tasks: kill, restart, remove, type, copy.

import { post } from "../api.js";
import { h, toast } from "../dom.js";
import { isEnded } from "../format.js";
import { ask, confirm } from "./dialog.js";

/** Kills, restarts or removes tasks, after a question. */
export async function change(what, given) {
  const tasks = what === "kill" ? given.filter((task) => !isEnded(task) || task.survivors > 0) : given;
  if (!tasks.length) {
    toast("It has already ended.");
    return null;
  }
  const names = tasks.slice(0, 8).map((task) => h("code", {}, task.name ? `${task.name}: ${task.command}` : task.command));
  const more = tasks.length > 8 ? [`and ${tasks.length - 8} more`] : [];
  const list = h("ul", {}, [...names, ...more].map((name) => h("li", {}, name)));
  const number = tasks.length === 1 ? "this task" : `${tasks.length} tasks`;
  const ids = tasks.map((task) => task.id);
  if (what === "kill") {
    if (!(await confirm(`Kill ${number}?`, [list, h("p", {}, "All processes of the tasks get SIGTERM, and SIGKILL if they do not end.")], "Kill"))) return null;
    const report = await post("/tasks/kill", { ids });
    for (const receipt of report.receipts) toast(receiptWords(receipt));
    for (const failure of report.failures) toast(`${failure.id}: ${failure.detail}`, "error");
    return report;
  }
  if (what === "restart") {
    if (!(await confirm(`Restart ${number}?`, [list, h("p", {}, "A task that still runs is killed first.")], "Restart", "primary"))) return null;
  } else if (!(await confirm(`Remove ${number}?`, [list, h("p", {}, "Ended tasks are removed with their logs. Live tasks are kept.")], "Remove"))) return null;
  const done = await post(`/tasks/${what}`, { ids });
  done.lines.forEach((line) => toast(line));
  return done;
}

export function receiptWords(receipt) {
  const signals = receipt.signals.map((sent) => sent.signal).join(", ");
  const killed = receipt.killed.length + (receipt.killed_more ?? 0);
  const processes = killed === 1 ? "1 process" : `${killed} processes`;
  const alive = receipt.survivors.length ? `; still alive: ${receipt.survivors.map((one) => `${one.pid} ${one.command}`).join(", ")}` : "";
  return signals ? `${receipt.id} ${receipt.status}: ${signals} to ${processes}, ${receipt.duration_ms} ms${alive}` : `${receipt.id} ${receipt.status}: no processes left to kill`;
}

export async function typeTo(id) {
  const text = await ask("Send a line of input", "The line", "Send");
  if (text === null) return;
  const done = await post(`/tasks/${encodeURIComponent(id)}/input`, { text });
  done.lines.forEach((line) => toast(line));
}

export async function copy(text, what) {
  await navigator.clipboard.writeText(text);
  toast(`Copied ${what}.`);
}
