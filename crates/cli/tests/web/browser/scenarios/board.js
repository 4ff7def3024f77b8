// The board.

const assert = require("node:assert/strict");
const { SOON, start, status, touch, until } = require("../helpers.js");

module.exports = {
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
};
