// A task in a list. It is updated in place, so that the focus stays.

import { h, fill, portLink, setText } from "../dom.js";
import { ago, bytes, dateTime, duration, isEnded, label, sign, stateWords, tone } from "../format.js";
import { sparkline } from "./sparkline.js";

export class TaskRow {
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
    setText(this.state, exit ?? stateWords(task).replace(/^running \(ready\)$/, "ready"));
    this.state.classList.toggle("usual", this.state.textContent === "running");
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
    fill(this.ports, use.ports.slice(0, 3).map(portLink));
  }
}
