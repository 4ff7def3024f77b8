// What an agent in Node.js usually does: a child process with pipes, its output written to a file, its state in memory.
// One request a line on standard input, one reply a line: start SCRIPT, wait ID, kill ID, many COUNT AT_ONCE SCRIPT.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";

const directory = process.argv[2];
const tasks = [];

function start(script) {
  const id = tasks.length;
  const log = createWriteStream(`${directory}/${id}.log`);
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ended = new Promise((resolve) => child.on("close", (code, signal) => log.end(() => resolve(code ?? signal))));
  tasks.push({ pid: child.pid, ended });
  return id;
}

async function many(count, atOnce, script) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await tasks[start(script)].ended;
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

const requests = {
  start: (script) => start(script),
  wait: (id) => tasks[id].ended,
  kill: (id) => {
    process.kill(-tasks[id].pid, "SIGKILL");
    return tasks[id].ended;
  },
  many: (rest) => {
    const [, count, atOnce, script] = /^(\d+) (\d+) (.*)$/.exec(rest);
    return many(Number(count), Number(atOnce), script);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [, name, rest] = /^(\w+) (.*)$/.exec(line);
  process.stdout.write(`${(await requests[name](rest)) ?? "done"}\n`);
}
process.exit(0);
