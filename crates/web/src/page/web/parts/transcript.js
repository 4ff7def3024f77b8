// What an agent was told, said, did and answered, step by step.

import { h } from "../dom.js";
import { clock } from "../format.js";
import { prose } from "./prose.js";

const SIGNS = { completed: "\u2713", failed: "\u2717", in_progress: "\u25cf" };

const sign = (status) => [h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[status] ?? "\u25cb"), h("span", { class: "hidden" }, `${status.replace("_", " ")}: `)];
const line = (one) => h("li", { class: `step ${one.status}` }, sign(one.status), h("span", {}, one.title));
const bubble = (title, content, className = "") => h("div", { class: `bubble ${className}` }, h("h3", {}, title), content);

function tool(step) {
  const hasInput = step.input && step.input !== step.title;
  const title = [sign(step.status), h("span", { class: "mono step-title" }, step.title || step.input), h("span", { class: "muted step-time" }, clock(step.at))];
  if (!hasInput && !step.output) return h("div", { class: `tool step ${step.status}` }, title);
  return h("details", { class: `tool ${step.status}` }, h("summary", { class: `step ${step.status}` }, title),
    hasInput ? h("pre", { class: "mono", tabindex: "0" }, step.input) : null, step.output ? h("pre", { class: "mono output", tabindex: "0" }, step.output) : null);
}

function shown(step) {
  switch (step.kind) {
    case "text": return prose(step.text);
    case "thought": return h("details", { class: "thought" }, h("summary", { class: "muted" }, "Thought"), prose(step.text));
    case "tool": return tool(step);
    case "plan": return bubble("Plan", h("ul", { class: "plain-list" }, step.plan.map(line)));
    default: return null;
  }
}

/** A transcript that keeps the elements of steps that do not change, so that what is open stays open. */
export class Transcript {
  element = h("div", { class: "transcript" });
  #elements = new Map();

  /** Shows the messages to an agent, with the steps that followed each. */
  show(turns, { steps, truncated }) {
    const elements = new Map();
    const keep = (part, make) => {
      const key = JSON.stringify(part);
      elements.set(key, this.#elements.get(key) ?? make(part));
      return elements.get(key);
    };
    const of = (run) => steps.filter((step) => step.run === run);
    // A plan is shown as it is last.
    const isShown = (step, at, all) => step.kind !== "plan" || !all.slice(at + 1).some((later) => later.kind === "plan");
    const turn = (one) => [
      keep({ prompt: one.prompt, run: one.run }, () => bubble("Prompt", prose(one.prompt), "prompt")),
      of(one.run).filter(isShown).map((step) => keep(step, shown)),
      // Its steps may be too old to be read.
      one.answer && !of(one.run).some((step) => step.kind === "text") ? keep({ answer: one.answer, run: one.run }, () => prose(one.answer)) : null,
      one.error ? keep({ error: one.error, run: one.run }, () => bubble("Error", prose(one.error), "bad")) : null,
    ];
    const all = [
      truncated ? keep("earlier", () => h("p", { class: "muted" }, "Earlier steps are not shown.")) : null,
      turns.length ? turns.map(turn) : keep("none", () => h("p", { class: "nothing" }, "The agent has not begun.")),
    ].flat(Infinity).filter(Boolean);
    this.#elements = elements;
    const { children } = this.element;
    if (children.length !== all.length || all.some((element, at) => children[at] !== element)) this.element.replaceChildren(...all);
  }
}
