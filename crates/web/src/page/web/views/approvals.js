// Approval requests: the exact command, what it would do, and the answers.

import { get, post } from "../api.js";
import { h, fill, toast, throttled, visible, withCode } from "../dom.js";
import { ago, dateTime, duration } from "../format.js";
import { live } from "../live.js";
import { ask, confirm } from "../parts/dialog.js";

async function answered(work) {
  try {
    const done = await work;
    done?.lines.forEach((line) => toast(line));
  } catch (error) {
    toast(error.message, "error");
  }
}

const approve = (request, remember) => answered(post(`/approvals/${request.id}/approve`, { remember }));

/** How long after a request has taken the place of another it cannot be approved: the user has read the other. */
const TO_READ = 700;
let movedAt = -TO_READ;

/** Notes whether a request has taken the place of another. */
export function noteOrder(before, after) {
  if (before.some((id, at) => at < after.length && after[at] !== id)) movedAt = performance.now();
}

/** Approves a request that the user has had time to read. */
function approveRead(request, remember) {
  if (performance.now() - movedAt < TO_READ) return toast("The requests have just moved. Read this one again.", "error");
  return approve(request, remember);
}

async function always(request) {
  const rule = await get(`/approvals/${request.id}/rule`).catch((error) => toast(error.message, "error"));
  if (!rule) return;
  const text = [h("p", {}, "Exactly this command is approved from now on, in every session. This rule is added to ", h("code", {}, rule.path), ":"),
    h("pre", { class: "mono rule", tabindex: "0", role: "group", "aria-label": "The rule" }, visible(rule.text))];
  if (await confirm("Always approve?", text, "Approve and add the rule", "primary")) await approve(request, "always");
}

async function deny(request) {
  const reason = await ask("Deny the request", "A reason for the agent to read (optional)", "Deny");
  if (reason !== null) await answered(post(`/approvals/${request.id}/deny`, { reason }));
}

/** Shows a request with its answers. */
export function requestCard(request, isShort = false) {
  const list = (title, items, className = "") => (items.length ? h("div", { class: `facts-block ${className}` }, h("h4", {}, title), h("ul", {}, items.map((item) => h("li", {}, withCode(visible(item)))))) : null);
  const asked = h("span", { class: "muted", "data-tick": "", title: dateTime(request.asked_at) }, ago(request.asked_at));
  asked.tick = () => { asked.textContent = ago(request.asked_at); };
  const details = [
    list("Effects", request.effects, "effects"),
    list("Why it asks", request.reasons),
    isShort ? null : list("Steps", request.steps.length > 1 ? request.steps : []),
    list("Variables", request.env),
    request.expected || request.took_ms ? h("p", { class: "muted" }, [request.expected ? `expected: ${request.expected}` : "", request.took_ms ? `took ${duration(request.took_ms)} the last time` : ""].filter(Boolean).join("; ")) : null,
  ];
  const buttons = h("footer", {},
    h("button", { class: "button primary", onclick: () => approveRead(request, "once") }, "Approve"),
    h("button", { class: "button", onclick: () => approveRead(request, "session") }, "For this session"),
    h("button", { class: "button", onclick: () => always(request) }, "Always"),
    h("button", { class: "button danger", onclick: () => deny(request) }, "Deny\u2026"));
  return h("article", { class: "request", "data-request": request.id, role: isShort ? "listitem" : undefined, "aria-label": `Approval request ${request.id}` },
    h("header", {}, h("span", { class: "sign warn", "aria-hidden": "true" }, "!"), h("strong", {}, "Approval needed"), h("span", { class: "chip" }, request.session), h("span", { class: "muted" }, request.tool), asked, request.cwd ? h("span", { class: "muted mono path" }, request.cwd) : null, h("span", { class: "muted mono id" }, request.id)),
    h("pre", { class: "command-text mono", tabindex: "0", role: "group", "aria-label": "The exact command" }, visible(request.command)),
    h("div", { class: "decide" }, h("div", { class: "facts-grid" }, details), buttons));
}

const OUTCOME = { open: "open", approved: "approved", used: "approved", denied: "denied", lapsed: "expired", expired: "expired" };

export function open(main, { signal }) {
  const waiting = h("div", { class: "requests" });
  const history = h("div", { class: "history" });
  fill(main, h("h1", {}, "Approvals"), waiting, h("h2", {}, "Earlier"), history);
  let cards = new Map();
  const draw = () => {
    noteOrder([...cards.keys()], live.approvals.map((request) => request.id));
    cards = new Map(live.approvals.map((request) => [request.id, cards.get(request.id) ?? requestCard(request)]));
    if (cards.size) waiting.replaceChildren(...cards.values());
    else fill(waiting, h("p", { class: "nothing" }, "Nobody waits for approval."));
  };
  const load = throttled(800, async () => {
    const earlier = (await get("/approvals", { history: true, limit: 100 })).approvals.filter((request) => request.status !== "open");
    const row = (request) => h("tr", {},
      h("td", {}, h("span", { class: `outcome ${OUTCOME[request.status]}` }, OUTCOME[request.status] ?? request.status)),
      h("td", { class: "mono wide-cell" }, request.task_id ? h("a", { href: `#/task/${request.task_id}` }, request.command) : request.command, request.reason ? h("span", { class: "muted" }, ` \u2014 ${request.reason}`) : null),
      h("td", {}, request.session), h("td", { class: "muted" }, request.answered_by ?? ""), h("td", { class: "muted", title: dateTime(request.asked_at) }, ago(request.asked_at)));
    fill(history, earlier.length ? h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Earlier requests" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Outcome", "Command", "Session", "By", "Requested"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, earlier.map(row)))) : h("p", { class: "muted" }, "No earlier requests."));
  });
  live.on("approvals", () => { draw(); load(); }, signal);
  draw();
  load();
  const first = () => live.approvals[0];
  return {
    y: () => first() && approveRead(first(), "once"), s: () => first() && approveRead(first(), "session"),
    n: () => first() && deny(first()), Escape: () => { location.hash = "#/"; },
  };
}
