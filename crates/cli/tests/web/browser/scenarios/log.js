// The log of a task.

const fs = require("node:fs");
const path = require("node:path");
const assert = require("node:assert/strict");
const { origin, SOON, start, status, touch, until, work } = require("../helpers.js");

module.exports = {
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
    // However long the page is open, it keeps elements only for what is seen.
    const size = status(id).output_bytes;
    await until("there are many lines", () => status(id).output_bytes > size + 5_000_000);
    const debuggerOf = await page.context().newCDPSession(page);
    await debuggerOf.send("HeapProfiler.collectGarbage");
    const { nodes } = await debuggerOf.send("Memory.getDOMCounters");
    assert.ok(nodes < 5000, `${nodes} nodes`);
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
};
