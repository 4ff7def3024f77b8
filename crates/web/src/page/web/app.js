// The page: chooses the view, handles keys, and shows whether the server is there.

import { live } from "./live.js";
import { h, toast } from "./dom.js";
import * as attention from "./parts/attention.js";
import { tell } from "./parts/dialog.js";
import * as board from "./views/board.js";
import * as task from "./views/task.js";
import * as timeline from "./views/timeline.js";
import * as approvals from "./views/approvals.js";
import * as groups from "./views/groups.js";

const VIEWS = { "": board, task, timeline, approvals, sessions: groups, batches: groups, agents: groups };
const main = document.getElementById("main");
let current = null;

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show() {
  const [path, queryText] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decoded);
  const view = VIEWS[name] ?? board;
  current?.leave.abort();
  document.querySelectorAll("dialog").forEach((dialog) => dialog.dispatchEvent(new Event("cancel")));
  const leave = new AbortController();
  main.replaceChildren();
  main.className = `view-${name || "board"}`;
  const parameters = Object.fromEntries(new URLSearchParams(queryText ?? ""));
  current = { leave, keys: {}, name };
  current.keys = view.open(main, { name, argument: rest.join("/"), parameters, signal: leave.signal }) ?? {};
  for (const link of document.querySelectorAll("#nav a")) {
    const isCurrent = link.dataset.view === (name || "board");
    if (isCurrent) {
      link.setAttribute("aria-current", "page");
      // On a phone not all links have room.
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  scrollTo(0, 0);
}

const KEYS = [
  ["Everywhere", [["b", "board"], ["A", "approvals"], ["t 3", "timeline"], ["/", "filter, or search in the log"], ["Esc", "back"], ["?", "this help"]]],
  ["Board", [["j \u2193", "next task"], ["k \u2191", "previous task"], ["g G", "first, last"], ["Enter", "open"], ["Space", "mark"], ["f", "filter by state"], ["S", "sessions"]]],
  ["Selected or marked tasks", [["x", "kill"], ["r", "restart"], ["c", "remove, if ended"], ["i", "send a line of input"], ["y Y", "copy the id, the path of the log"]]],
  ["Approvals", [["y", "approve the first"], ["s", "approve it for its session"], ["n", "deny it"]]],
  ["Log", [["n N", "next, previous match"], ["F", "follow"], ["o", "stream: both, stdout, stderr, split"], ["w", "wrap"], ["1 2 4", "log, details, trace"], ["g G", "beginning, end"]]],
];

function help() {
  const group = ([title, keys]) => h("section", {}, h("h3", {}, title),
    h("dl", { class: "keys" }, keys.map(([key, words]) => [h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, words)])));
  tell("Keys", h("div", { class: "key-groups" }, KEYS.map(group)));
}

const GLOBAL_KEYS = {
  "?": help,
  A: () => { location.hash = "#/approvals"; },
  t: () => { location.hash = "#/timeline"; },
  3: () => { location.hash = "#/timeline"; },
  b: () => { location.hash = "#/"; },
  S: () => { location.hash = "#/sessions"; },
};

addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, textarea, select") || document.querySelector("dialog[open]");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping) {
    if (event.key === "Escape" && event.target.matches?.("input, select")) event.target.blur();
    return;
  }
  // A link follows Enter only; Space on it would scroll.
  if (event.key === "Enter" && event.target.matches?.("button, a, summary")) return;
  if (event.key === " " && event.target.matches?.("button, summary")) return;
  const act = current?.keys[event.key] ?? GLOBAL_KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  Promise.resolve(act(event)).catch((error) => toast(error.message, "error"));
});

// Whether the server is there.

const connection = document.getElementById("connection");
const gone = document.getElementById("gone");
const GONE = {
  disconnected: "Disconnected. What you see may be old; the page connects again by itself.",
  "signed out": "This browser is no longer signed in. Open the link that mw serve has printed.",
};
function showState() {
  connection.textContent = live.state;
  connection.dataset.state = live.state;
  gone.hidden = !(live.state in GONE);
  gone.textContent = GONE[live.state] ?? "";
  document.body.classList.toggle("stale", live.state in GONE);
}
live.addEventListener("state", showState);

document.getElementById("help").addEventListener("click", help);
document.getElementById("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
});

// Times go on without requests.
setInterval(() => {
  if (document.hidden) return;
  for (const element of document.querySelectorAll("[data-tick]")) element.tick?.();
}, 1000);

addEventListener("hashchange", show);
showState();
attention.start();
show();
live.start();
