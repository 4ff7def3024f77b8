// Plays a scenario in a browser: `node drive.js SCENARIO LINK`.

const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const assert = require("node:assert/strict");
const { chromium } = require(process.env.PLAYWRIGHT);

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

const SCENARIOS = {
  async board({ page }) {
    await page.getByText("Nothing runs yet.").waitFor();
    const id = start("--name", "worker", "--progress-fd",
      "echo '{\"percent\": 40}' >&$MEANWHILE_PROGRESS_FD; until test -e go; do sleep 0.1; done; exit 3");
    const row = page.locator(`.group-running [data-id="${id}"]`);
    await row.waitFor({ timeout: SOON });
    await row.getByText("40%").waitFor({ timeout: SOON });
    await until("usage is shown", () => row.locator(".spark").count());
    assert.match(await row.innerText(), /worker/);
    touch("go");
    const gone = page.locator(`.group-recent [data-id="${id}"]`);
    await gone.waitFor({ timeout: SOON });
    assert.match(await gone.innerText(), /exit 3/);
    await page.keyboard.press("j");
    await page.keyboard.press(" ");
    await page.getByText("1 marked").waitFor();
    await page.keyboard.press("x");
    await page.getByText("It has already ended.").waitFor();
    await page.keyboard.press("Escape");
    await until("nothing is marked", async () => (await page.locator(".row.marked").count()) === 0);
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Log" }).waitFor({ timeout: SOON });
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Filter tasks" }).fill("nothing like it");
    await page.getByText("No task matches the filter.").waitFor({ timeout: SOON });
  },

  async log({ page }) {
    const id = start("printf '\\033[31mred\\033[0m plain\\n'; echo wrong >&2; until test -e go; do sleep 0.1; done; seq 5000; echo needle; seq 3000; echo the end");
    await page.goto(`${origin}/#/task/${id}`);
    const red = page.locator(".log .fg1", { hasText: "red" });
    await red.waitFor({ timeout: SOON });
    await page.locator(".log-line.stderr", { hasText: "wrong" }).waitFor();
    touch("go");
    await page.locator(".log-line", { hasText: "the end" }).waitFor({ timeout: SOON });
    assert.ok((await page.locator(".log-line").count()) < 300, "only visible lines are drawn");
    await page.keyboard.press("/");
    await page.keyboard.type("needle");
    await page.keyboard.press("Enter");
    await page.getByText("1 of 1 matches").waitFor();
    await page.getByRole("combobox", { name: "Streams" }).selectOption("stderr");
    await until("only stderr is shown", async () => (await page.locator(".log-lines").innerText()).replace(/[0-9\s]/g, "") === "wrong");
    await page.getByRole("combobox", { name: "Streams" }).selectOption("split");
    await until("both are shown", async () => (await page.locator(".log").count()) === 2);
  },

  async long({ page }) {
    // Colours and letters of several bytes, so that characters and bytes differ; more lines than the page keeps.
    const marks = { 7: " needle top", 130000: " needle middle", 259990: " needle end" };
    const text = (at) => `\u001b[3${at % 7}m\u00fc\u00fc\u20ac ${String(at).padStart(6, "0")}\u001b(B\u001b[0m${marks[at] ?? ""}\n`;
    fs.writeFileSync(path.join(work, "long"), Array.from({ length: 260_000 }, (_, at) => text(at + 1)).join(""));
    const id = start("--cap", "0", "cat long");
    await until("it has ended", () => status(id).status === "completed");
    await page.goto(`${origin}/#/task/${id}`);
    const log = page.locator(".log-scroll");
    await page.locator(".log-line", { hasText: "260000" }).waitFor({ timeout: SOON });
    /** The numbers of the lines that can be seen, which must follow each other. */
    const seen = async () => {
      const lines = await log.evaluate((scroller) => {
        const { top, bottom } = scroller.getBoundingClientRect();
        return [...scroller.querySelectorAll(".log-line")].filter((line) => line.getBoundingClientRect().bottom > top && line.getBoundingClientRect().top < bottom).map((line) => line.querySelector(".log-text").innerText.trim());
      });
      const numbers = lines.map((line) => Number(line.match(/^\u00fc\u00fc\u20ac (\d{6})( needle \w+)?$/)?.[1]));
      // The first and the last line may be incomplete until the part with the rest of them is there.
      if (Number.isNaN(numbers.at(-1))) numbers.pop();
      if (Number.isNaN(numbers[0])) numbers.shift();
      const gap = numbers.findIndex((number, at) => at > 0 && number !== numbers[at - 1] + 1);
      assert.equal(gap, -1, `lines are missing or damaged: ${lines.slice(Math.max(0, gap - 2), gap + 2)}`);
      return numbers;
    };
    const sees = (number) => until(`line ${number} is shown`, async () => (await seen()).includes(number));
    // The user turns the wheel while the search reads what comes earlier.
    let turns = true;
    await log.hover();
    const turning = (async () => {
      while (turns) await page.mouse.wheel(0, -3000);
    })();
    const find = page.getByRole("searchbox", { name: "Search the log" });
    await find.fill("needle");
    await find.press("Enter");
    await page.getByText("1 of 3 matches").waitFor({ timeout: SOON });
    turns = false;
    await turning;
    await find.press("Shift+Enter");
    for (const [number, line] of [[3, 259_990], [1, 7], [2, 130_000], [3, 259_990], [1, 7]]) {
      await page.getByText(`${number} of 3 matches`).waitFor({ timeout: SOON });
      await sees(line);
      const marked = page.locator(".log-line.match");
      assert.match(await marked.locator(".log-text").innerText(), new RegExp(`${String(line).padStart(6, "0")} needle`));
      assert.equal(await marked.locator("mark").innerText(), "needle");
      await find.press("Enter");
    }
    // From the middle to the end and back by scrolling: nothing is missing where parts meet.
    await page.getByText("2 of 3 matches").waitFor({ timeout: SOON });
    await sees(130_000);
    const scroll = (to) => log.evaluate((scroller, where) => { scroller.scrollTop = where === "end" ? scroller.scrollHeight : 0; }, to);
    for (const [to, line] of [["end", 260_000], ["start", 1], ["end", 260_000]]) {
      await until(`line ${line} is reached`, async () => {
        await scroll(to);
        return (await seen()).includes(line);
      });
    }
    await find.fill("/00000[12]\\b/");
    await find.press("Enter");
    await page.getByText("1 of 2 matches").waitFor({ timeout: SOON });
    await sees(1);
    await page.keyboard.press("Escape");
    await page.keyboard.press("G");
    await sees(260_000);
  },

  async chatty({ page }) {
    const id = start("--cap", "0", "i=0; while :; do i=$((i+1)); echo \"line $i\"; done");
    await page.goto(`${origin}/#/task/${id}`);
    await page.locator(".log-line").nth(20).waitFor({ timeout: SOON });
    const log = page.locator(".log-scroll");
    const first = () => log.evaluate((scroller) => {
      const { top } = scroller.getBoundingClientRect();
      return [...scroller.querySelectorAll(".log-line")].find((line) => line.getBoundingClientRect().top >= top)?.innerText.trim();
    });
    const follow = page.getByRole("button", { name: "Follow", exact: true });
    // One turn of the wheel is enough, however fast the task prints; then the lines stay where they are.
    for (let round = 0; round < 5; round += 1) {
      await log.hover();
      await page.mouse.wheel(0, -2000);
      await until("it does not follow", async () => (await follow.getAttribute("aria-pressed")) === "false");
      const seen = await first();
      const size = status(id).output_bytes;
      await until("there is more output", () => status(id).output_bytes > size + 1_000_000);
      // Between two frames, lines may be elsewhere than they are shown.
      await until(`${seen} is shown`, async () => (await first()) === seen);
      await page.getByRole("button", { name: "\u2193 Follow" }).click();
      let before = null;
      await until("it follows", async () => {
        const now = await first();
        const moves = before !== null && now !== undefined && now !== before;
        before = now ?? null;
        return moves && now !== seen && (await follow.getAttribute("aria-pressed")) === "true";
      });
    }
  },

  async kill({ page }) {
    const id = start("--name", "victim", "sleep 600 & wait");
    await page.goto(`${origin}/#/task/${id}`);
    await page.getByRole("button", { name: "Kill" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    assert.equal(status(id).status, "running");
    await page.keyboard.press("x");
    await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
    await page.getByText(/cancelled: SIGTERM to \d+ process/).waitFor({ timeout: SOON });
    assert.equal(status(id).status, "cancelled");
    await page.getByRole("tab", { name: "Details" }).click();
    await page.getByText("Kill receipt").waitFor({ timeout: SOON });
  },

  async approvals({ page }) {
    const asking = ended(inSession("agent-1", "start", "--json", "rm -rf build"));
    await page.getByText("Approval needed").waitFor({ timeout: SOON });
    await until("the title shows it", async () => (await page.title()) === "(1 to approve) meanwhile");
    assert.match(await page.locator(".request").innerText(), /rm -rf build[\s\S]*deletes build/);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    assert.equal((await asking).code, 0);
    await until("it is gone", async () => (await page.locator(".request").count()) === 0);
    const denied = ended(inSession("agent-1", "start", "--json", "rm -rf dist"));
    await page.keyboard.press("A");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("use make clean");
    await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
    const { code, text } = await denied;
    assert.ok(code !== 0 && text.includes("use make clean"), text);
    await page.locator(".history").getByText("use make clean").waitFor({ timeout: SOON });
  },

  async hostile({ page }) {
    const evil = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><a href=javascript:alert(1)>x</a>";
    fs.writeFileSync(path.join(work, "evil"), `${evil}\n\u001b]0;owned\u0007\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007\n${"\u001b[31m\u001b[1m\u001b[48;2;1;2;3m".repeat(200_000)}\nafter bombs\n`);
    const id = start("--name", "<b onclick=alert(1)>name", "--description", evil, "--cap", "0", "cat evil; head -c 100000000 /dev/zero | tr '\\0' y; echo; echo the end");
    await until("it has ended", () => status(id).status === "completed");
    await page.goto(`${origin}/#/`);
    await page.locator(`[data-id="${id}"]`).waitFor({ timeout: SOON });
    await page.goto(`${origin}/#/task/${id}`);
    await page.locator(".log-line", { hasText: "the end" }).waitFor({ timeout: SOON });
    await page.locator(".log-line", { hasText: "more characters" }).waitFor({ timeout: SOON });
    // To the beginning, over 100 MB in one line.
    await page.getByRole("searchbox", { name: "Search the log" }).fill("after bombs");
    await page.keyboard.press("Enter");
    await page.locator(".log-line", { hasText: "after bombs" }).waitFor({ timeout: SOON });
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.locator(".log-line", { hasText: "<script>" }).waitFor({ timeout: SOON });
    const facts = await page.evaluate(() => ({
      title: document.title, scripts: document.querySelectorAll("main script, main img, main b, main a[href^='javascript']").length,
      nodes: document.querySelectorAll("*").length,
    }));
    assert.ok(!facts.title.includes("owned"), facts.title);
    assert.equal(facts.scripts, 0);
    assert.ok(facts.nodes < 5000, String(facts.nodes));
    for (const tab of ["Details", "Trace"]) await page.getByRole("tab", { name: tab }).click();
  },

  async accessibility({ page }) {
    const id = start("--name", "worker", "--progress-fd", "echo '{\"percent\": 40}' >&$MEANWHILE_PROGRESS_FD; printf '\\033[32mgreen\\033[0m \\033[33myellow\\033[0m\\n'; echo wrong >&2; sleep 600");
    start("--batch", "night", "exit 1");
    start("--after", id, "true");
    inSession("agent-1", "start", "rm -rf build");
    const axe = fs.readFileSync(process.env.AXE, "utf8");
    await page.locator(`[data-id="${id}"]`).waitFor({ timeout: SOON });
    for (const theme of ["light", "dark"]) {
      await page.evaluate((name) => localStorage.setItem("theme", name), theme);
      await page.reload();
      for (const view of ["", `task/${id}`, `task/${id}?tab=details`, `task/${id}?tab=trace`, "timeline", "approvals", "sessions", "batches", "agents", "?"]) {
        await page.goto(`${origin}/#/${view === "?" ? "" : view}`);
        await page.waitForLoadState("networkidle", { timeout: 2000 }).catch(() => {});
        await until("the view is filled", () => page.evaluate(() => document.querySelector("main").innerText.length > 20));
        if (view === "?") await page.keyboard.press("?");
        // Through the debugger, because the page's policy forbids other scripts.
        const { violations } = await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`);
        const serious = violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
        const words = serious.map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`);
        assert.deepEqual(words, [], `${theme} ${view}`);
      }
    }
  },

  async many({ page }) {
    const list = { total: 0 };
    // The server is real, the number of tasks is not.
    await page.route("**/api/v1/tasks?*status=ended*", async (route) => {
      const url = new URL(route.request().url());
      const [offset, limit] = [Number(url.searchParams.get("offset")), Number(url.searchParams.get("limit"))];
      const task = (number) => ({ ...list.task, id: `bash-${String(number).padStart(8, "0")}`, name: `task-${number}` });
      const tasks = Array.from({ length: Math.max(0, Math.min(limit, 10_000 - offset)) }, (_, at) => task(offset + at));
      await route.fulfill({ json: { tasks, total: 10_000, live: 0 } });
    });
    const id = start("true");
    await until("it has ended", () => status(id).status === "completed");
    list.task = status(id);
    await page.reload();
    await page.getByText("task-0", { exact: true }).waitFor({ timeout: SOON });
    const begin = Date.now();
    for (const part of [0.2, 0.9, 0.5, 1]) {
      await page.evaluate((at) => scrollTo(0, document.documentElement.scrollHeight * at), part);
      await until("rows are drawn", () => page.evaluate(() => [...document.querySelectorAll(".group-recent .row")].some((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return top > 100 && bottom < innerHeight;
      })));
    }
    await page.getByText("task-9999", { exact: true }).waitFor({ timeout: SOON });
    // The keys reach tasks that were not read yet, and what they select is below the bar at the top.
    const selects = (number) => until(`task ${number} is selected`, () => page.evaluate((name) => {
      const row = document.querySelector(".row.selected");
      const { top, bottom } = row?.getBoundingClientRect() ?? {};
      const bar = document.querySelector(".top").getBoundingClientRect().bottom;
      return row?.querySelector(".title").textContent === name && top >= bar && bottom <= innerHeight && row.contains(document.activeElement);
    }, `task-${number}`));
    for (const [key, number] of [["g", 0], ["G", 9999], ["k", 9998], ["g", 0], ["j", 1]]) {
      await page.keyboard.press(key);
      await selects(number);
    }
    assert.ok((await page.locator(".row").count()) < 200, "only visible rows are drawn");
    assert.ok(Date.now() - begin < 20_000, "scrolling is fast");
  },

  async stranger({ browser }) {
    start("--name", "secret-name", "true");
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const place of ["/", "/#/timeline", "/api", "/login", "/login?token=wrong"]) {
      const response = await page.goto(origin + place);
      if (response) assert.equal(response.status(), 401, place);
      assert.match(await page.innerText("body"), /not signed in/);
      assert.ok(!(await page.content()).includes("secret-name"));
    }
    assert.equal((await page.request.get(`${origin}/api/v1/tasks`)).status(), 401);
    // A page of another origin cannot change or read anything, also with the cookie of a signed-in browser.
    const signedIn = await browser.newContext();
    const own = await signedIn.newPage();
    await own.goto(link);
    await own.waitForURL(`${origin}/`);
    await until("it is connected", async () => (await own.locator("#connection").innerText()) === "connected");
    // The cookie alone, which servers on other ports of this machine get, opens no data.
    assert.equal((await signedIn.request.get(`${origin}/`)).status(), 200);
    for (const path of ["tasks", "events", "approvals", "metrics"]) assert.equal((await signedIn.request.get(`${origin}/api/v1/${path}`)).status(), 403, path);
    await own.evaluate(() => localStorage.removeItem("key"));
    await own.reload();
    await own.getByText("This browser is no longer signed in.").waitFor({ timeout: SOON });
    const foreign = await own.evaluate(async (target) => {
      const sent = (options) => fetch(`${target}/api/v1/tasks/clear`, { method: "POST", body: "{\"ended\":true}", credentials: "include", ...options }).then((answer) => answer.status, () => "refused");
      return [await sent({}), await sent({ mode: "no-cors" })];
    }, origin.replace("127.0.0.1", "localhost"));
    assert.ok(foreign.every((answer) => answer === "refused" || answer === 0 || answer === 401 || answer === 403), String(foreign));
  },

  async reconnect({ page }) {
    const id = start("--name", "worker", "sleep 600");
    await page.locator(`[data-id="${id}"]`).waitFor({ timeout: SOON });
    fs.writeFileSync(path.join(work, "restart", "stop"), "");
    await page.getByText("Disconnected.").waitFor({ timeout: SOON });
    assert.match(await page.title(), /disconnected/);
    const later = start("--name", "later", "sleep 600");
    fs.writeFileSync(path.join(work, "restart", "start"), "");
    await page.locator(`[data-id="${later}"]`).waitFor({ timeout: 2 * SOON });
    await until("it says so", async () => (await page.locator("#connection").innerText()) === "connected");
    assert.equal(await page.locator("#gone").isVisible(), false);
  },
};

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const errors = [];
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(SOON);
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => { if (message.type() === "error" && /Content.Security|Refused|Trusted/i.test(message.text())) errors.push(message.text()); });
    if (scenario !== "stranger") {
      await page.goto(link);
      await page.waitForURL(`${origin}/`);
      await until("it is connected", async () => (await page.locator("#connection").innerText()) === "connected");
    }
    await SCENARIOS[scenario]({ page, browser, context });
    assert.deepEqual(errors, []);
    console.log("done");
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
