// What needs attention: in the title, in the icon, and as notifications of the browser.

import { get } from "../api.js";
import { toast } from "../dom.js";
import { label, stateWords } from "../format.js";
import { live } from "../live.js";

/** The time in which tasks must end to share a notification. */
const TOGETHER = 1500;

const isAway = () => document.hidden || !document.hasFocus();

// The title and the icon.

const asked = document.getElementById("asked");
const icon = document.getElementById("favicon");
/** How many tasks have failed since the user has looked. */
let failures = 0;

function show() {
  const open = live.approvals.length;
  asked.hidden = open === 0;
  asked.textContent = String(open);
  const parts = [open ? `${open} to approve` : "", failures ? `${failures} failed` : "", live.state === "connected" ? "" : "disconnected"];
  const words = parts.filter(Boolean).join(", ");
  document.title = words ? `(${words}) meanwhile` : "meanwhile";
  drawIcon(failures ? "#d0383f" : open ? "#d99a1c" : "");
}

function drawIcon(colour) {
  if (icon.dataset.colour === colour) return;
  icon.dataset.colour = colour;
  if (!colour) {
    icon.href = "/assets/favicon.svg";
    return;
  }
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const pen = canvas.getContext("2d");
  const image = new Image();
  image.onload = () => {
    // It may have changed meanwhile.
    if (icon.dataset.colour !== colour) return;
    pen.drawImage(image, 0, 0, 32, 32);
    pen.beginPath();
    pen.arc(24, 8, 8, 0, 7);
    pen.fillStyle = colour;
    pen.fill();
    icon.href = canvas.toDataURL();
  };
  image.src = "/assets/favicon.svg";
}

function seen() {
  if (!isAway()) failures = 0;
  show();
}

// Notifications. The browser is asked for its permission when the user clicks on the bell, and never otherwise.

const bell = document.getElementById("notify");
const isWanted = () => localStorage.getItem("notify") === "yes" && globalThis.Notification?.permission === "granted";
const showBell = () => bell.setAttribute("aria-pressed", String(isWanted()));

async function toggle() {
  if (isWanted()) localStorage.removeItem("notify");
  else if ((await globalThis.Notification?.requestPermission()) === "granted") localStorage.setItem("notify", "yes");
  else toast("The browser does not allow notifications of this page.", "error");
  showBell();
}

/** Notifies a user who looks at something else. Of several pages, only one does. */
function notify(title, body, hash, tag) {
  if (!isWanted() || !isAway() || !live.isLeading) return;
  const notification = new Notification(title, { body, tag, icon: "/assets/favicon.svg" });
  notification.onclick = () => {
    focus();
    location.hash = hash;
    notification.close();
  };
}

/** The requests that are open; null before the first are known, which are no news. */
let known = null;
function onApprovals(open) {
  for (const request of known ? open : []) {
    if (!known.has(request.id)) notify(`Approval needed in ${request.session}`, request.command, "#/approvals", request.id);
  }
  known = new Set(open.map((request) => request.id));
  show();
}

/** The tasks that have ended since the last notification. */
let ended = [];
const isFailure = ({ cause }) => !["cancelled", "skipped"].includes(cause.cause) && !(cause.cause === "exited" && cause.code === 0);
const isCancelled = ({ cause }) => ["cancelled", "skipped"].includes(cause.cause);

function onTask(row) {
  if (row.event !== "ended" || !isAway()) return;
  if (isFailure(row)) failures += 1;
  show();
  // The user knows of a cancelled task.
  if (!isWanted() || isCancelled(row)) return;
  ended.push(row);
  if (ended.length === 1) setTimeout(notifyOfEnds, TOGETHER);
}

async function notifyOfEnds() {
  const rows = ended;
  ended = [];
  const tag = `ended-${rows[0].seq}`;
  if (rows.length > 1) {
    const failed = rows.filter(isFailure).length;
    const words = failed ? `${failed} of them failed` : "All of them were successful";
    return notify(`${rows.length} tasks have ended`, words, failed ? "#/?status=failed,timed_out,lost" : "#/", tag);
  }
  const task = await get(`/tasks/${encodeURIComponent(rows[0].task)}`).catch(() => null);
  if (task) notify(`${label(task)[0]}: ${stateWords(task)}`, task.command, `#/task/${encodeURIComponent(task.id)}`, tag);
}

/** Follows what happens. */
export function start() {
  bell.addEventListener("click", toggle);
  live.addEventListener("approvals", ({ detail }) => onApprovals(detail));
  live.addEventListener("task", ({ detail }) => onTask(detail));
  live.addEventListener("state", show);
  document.addEventListener("visibilitychange", seen);
  addEventListener("focus", seen);
  showBell();
  show();
}
