// Makes the pictures of docs/web.md from a real run: `node tools/web_pictures.js path/to/mw`.
//
// It needs chromium, and playwright-core (in `target/clients` after `cargo run -p xtask -- clients`, or in PLAYWRIGHT).

const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const root = path.join(__dirname, "..");
const { chromium } = require(process.env.PLAYWRIGHT ?? path.join(root, "target/clients/node_modules/playwright-core"));
const mw = path.resolve(process.argv[2]);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "pictures-"));
const work = path.join(home, "shop");
fs.mkdirSync(work);
const env = { PATH: process.env.PATH, HOME: home, MEANWHILE_HOME: path.join(home, "state"), LANG: "C.UTF-8" };
const run = (session, ...words) => execFileSync(mw, words, { cwd: work, env: session ? { ...env, MEANWHILE_SESSION: session } : env, encoding: "utf8" });

const BUILD = `i=0; while [ $i -lt 400 ]; do i=$((i+1)); printf '\\033[1;32m   Compiling\\033[0m shop-part-%d v0.%d.0\\n' $i $((i%9));
  if [ $((i%6)) = 0 ]; then printf '\\033[1;33mwarning\\033[0m: unused variable: \\033[1m\`total\`\\033[0m\\n  \\033[34m-->\\033[0m src/cart.rs:%d:9\\n' $i >&2; fi
  [ $i -lt 60 ] || sleep 0.4; done`;
const INDEX = `i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "{\\"percent\\": $((55+i/4)), \\"text\\": \\"files\\"}" >&$MEANWHILE_PROGRESS_FD; sleep 1; done`;
const BENCH = "while :; do i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.5; done";

(async () => {
  for (const [name, script] of [["lint", "echo clean"], ["unit tests", "sleep 1; echo 212 passed"], ["integration tests", "echo '1 failed' >&2; exit 1"], ["docs", "echo built"], ["audit", "sleep 0.4; echo no advisory"]]) {
    run(null, "start", "-q", "--name", name, "--batch", "release", script);
  }
  const build = run(null, "start", "-q", "--name", "build", BUILD).trim();
  run(null, "start", "-q", "--name", "search index", "--progress-fd", INDEX);
  run(null, "start", "-q", "--name", "dev server", "python3 -m http.server 0 --bind 127.0.0.1");
  run(null, "start", "-q", "--name", "benchmark", BENCH);
  run(null, "start", "-q", "--name", "publish", "--after", build, "cargo publish");
  run(null, "start", "-q", "--name", "deploy", "--stdin", "printf 'Deploy to production? [y/N] '; read answer");
  const asking = spawn(mw, ["start", "rm -rf dist && git push --force origin main"], { cwd: work, env: { ...env, MEANWHILE_SESSION: "claude-code" }, stdio: "ignore" });
  const server = spawn(mw, ["serve", "--port", "0", "--json"], { cwd: work, env });
  const { link } = await new Promise((resolve) => server.stdout.once("data", (data) => resolve(JSON.parse(data))));
  const origin = new URL(link).origin;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
    await page.goto(link);
    await page.locator(".group-need .row").waitFor({ timeout: 60_000 });
    await page.locator(".group-running .spark-line").nth(5).waitFor();
    await page.waitForTimeout(10_000);
    await page.screenshot({ path: path.join(root, "docs/web-board.png") });
    await page.goto(`${origin}/#/task/${build}`);
    await page.waitForTimeout(4000);
    await page.screenshot({ path: path.join(root, "docs/web-log.png") });
  } finally {
    await browser.close();
    asking.kill();
    run(null, "kill", "--all");
    server.kill();
    await new Promise((resolve) => server.on("close", resolve));
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
})();
