// What needs attention while the user looks at something else: title, icon, notifications.

const assert = require("node:assert/strict");
const { ended, inSession, origin, SOON, start, status, until } = require("../helpers.js");

/** Records notifications and requests for permission instead of showing them. It runs before the page does. */
function record() {
  globalThis.shown = [];
  globalThis.requested = 0;
  const real = globalThis.Notification;
  const request = real.requestPermission.bind(real);
  globalThis.Notification = class {
    static get permission() {
      return real.permission;
    }

    static requestPermission() {
      globalThis.requested += 1;
      return request();
    }

    constructor(title, options) {
      globalThis.shown.push({ title, ...options });
    }

    close() {}
  };
}

/** Makes the page believe that the user looks at something else, or comes back. */
const leave = (page, isAway) => page.evaluate((away) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => away });
  document.hasFocus = () => !away;
  document.dispatchEvent(new Event("visibilitychange"));
}, isAway);

module.exports = {
  async attention({ context }) {
    // What happened before the page was opened is no news.
    const old = start("exit 1");
    await until("it has ended", () => status(old).status === "failed");
    const early = ended(inSession("agent-1", "start", "--json", "rm -rf early"));
    await context.grantPermissions(["notifications"], { origin });
    await context.addInitScript(record);
    const page = await context.newPage();
    await page.goto(`${origin}/`);
    await until("the request is shown", async () => (await page.title()) === "(1 to approve) meanwhile");
    const icon = () => page.evaluate(() => document.getElementById("favicon").href);
    await until("the icon shows it", async () => (await icon()).startsWith("data:image/png"));
    assert.equal(await page.evaluate(() => globalThis.requested), 0, "permission was not requested");
    const bell = page.getByRole("button", { name: "Notify me in the browser" });
    await bell.click();
    await until("the bell is on", async () => (await bell.getAttribute("aria-pressed")) === "true");
    assert.equal(await page.evaluate(() => globalThis.requested), 1);
    const shown = () => page.evaluate(() => globalThis.shown);
    await leave(page, true);

    const failed = start("--name", "nightly", "exit 3");
    await until("its end is shown", async () => (await shown()).length === 1);
    const [first] = await shown();
    assert.match(first.title, /^nightly: failed/);
    assert.equal(first.body, status(failed).command);
    await until("the title shows it", async () => (await page.title()) === "(1 to approve, 1 failed) meanwhile");

    const denied = ended(inSession("agent-2", "start", "--json", "rm -rf late"));
    await until("the request is shown", async () => (await shown()).length === 2);
    assert.match((await shown())[1].title, /agent-2/);
    assert.equal((await shown())[1].body, "rm -rf late");

    // Many that end together are one notification.
    for (let count = 0; count < 3; count += 1) start("exit 0");
    start("exit 1");
    await until("the ends are shown", async () => (await shown()).length > 2);
    const others = (await shown()).slice(2);
    const number = (one) => Number(one.title.match(/^(\d+) tasks have ended/)?.[1] ?? 1);
    await until("all ends are shown", async () => (await shown()).slice(2).reduce((sum, one) => sum + number(one), 0) === 4);
    assert.ok(others.length < 4, JSON.stringify(others));
    assert.equal(new Set((await shown()).map((one) => one.tag)).size, (await shown()).length, "each is shown once");

    // A page that is looked at needs no notifications, and what was seen is no longer counted.
    await leave(page, false);
    await until("the failures were seen", async () => (await page.title()) === "(2 to approve) meanwhile");
    const before = (await shown()).length;
    const seen = start("exit 1");
    await page.locator(`.group-recent [data-id="${seen}"]`).waitFor({ timeout: SOON });
    await page.getByRole("button", { name: "Deny" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
    await until("one request is left", async () => (await page.title()) === "(1 to approve) meanwhile");
    await until("its card is left", async () => (await page.locator(".request").count()) === 1);
    await until("it can be approved", async () => {
      await page.getByRole("button", { name: "Approve", exact: true }).click({ timeout: 500 }).catch(() => {});
      return (await page.title()) === "meanwhile";
    });
    assert.match(await icon(), /favicon\.svg$/);
    await Promise.all([early, denied]);

    // A reload repeats nothing, and the bell turns them off again.
    await page.reload();
    await until("it is connected", async () => (await page.locator("#connection").innerText()) === "connected");
    assert.deepEqual(await shown(), []);
    assert.equal(await bell.getAttribute("aria-pressed"), "true");
    await bell.click();
    await leave(page, true);
    const silent = start("exit 1");
    await until("the title shows it", async () => (await page.title()) === "(1 failed) meanwhile");
    assert.equal(status(silent).status, "failed");
    assert.deepEqual(await shown(), []);
    assert.ok(before >= 3);
  },
};
