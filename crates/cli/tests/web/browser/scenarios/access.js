// Who gets in, and what happens when the server is away.

const fs = require("node:fs");
const path = require("node:path");
const assert = require("node:assert/strict");
const { link, origin, SOON, start, status, touch, until, work } = require("../helpers.js");

module.exports = {
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

  async tabs({ page, context }) {
    // A browser has six connections to a server for all its pages.
    const id = start("--name", "worker", "until test -e go; do sleep 0.1; done; echo the end");
    const pages = [page];
    for (let count = 0; count < 9; count += 1) {
      const other = await context.newPage();
      await other.goto(`${origin}/`);
      await other.locator(`.group-running [data-id="${id}"]`).waitFor({ timeout: SOON });
      pages.push(other);
    }
    const viewers = () => page.evaluate(async () => (await (await fetch("/api/v1/metrics", { headers: { "X-Meanwhile": localStorage.getItem("key") } })).text()).match(/^meanwhile_event_viewers (\d+)$/m)[1]);
    await until("one page follows for all", async () => (await viewers()) === "1");
    touch("go");
    for (const one of pages) await one.locator(`.group-recent [data-id="${id}"]`).waitFor({ timeout: SOON });
    // The one that was opened last is closed, and another follows instead.
    for (let round = 0; round < 2; round += 1) {
      await pages.pop().close();
      const later = start("sleep 600");
      for (const one of pages) await one.locator(`.group-running [data-id="${later}"]`).waitFor({ timeout: SOON });
      for (const one of pages) assert.equal(await one.locator("#connection").innerText(), "connected");
    }
    await until("one page follows for all", async () => (await viewers()) === "1");
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
