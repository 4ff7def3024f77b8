// What all scenarios use: the program under test, the server, and waiting.

const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const [scenario, link] = process.argv.slice(2);
const origin = new URL(link).origin;
const work = process.env.WORK;
const SOON = 30_000;

const mw = (...words) => execFileSync(process.env.MW, words, { cwd: work, encoding: "utf8" });
const start = (...words) => JSON.parse(mw("start", "--json", ...words)).id;
const status = (id) => JSON.parse(mw("status", "--json", id));
const inSession = (session, ...words) =>
  spawn(process.env.MW, words, { cwd: work, env: { ...process.env, MEANWHILE_SESSION: session }, stdio: ["ignore", "pipe", "pipe"] });
const ended = (child) => new Promise((resolve) => {
  let text = "";
  child.stdout.on("data", (data) => { text += data; });
  child.stderr.on("data", (data) => { text += data; });
  child.on("close", (code) => resolve({ code, text }));
});
const touch = (name) => fs.writeFileSync(path.join(work, name), "");

async function until(what, check) {
  const deadline = Date.now() + SOON;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

module.exports = { ended, inSession, link, mw, origin, scenario, SOON, start, status, touch, until, work };
