// What a person does with tasks and requests.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { ended, inSession, mw, origin, SOON, start, status, until } = require("../helpers.js");

module.exports = {
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
    // A task that was killed elsewhere has its receipt, too. It appears while the page is open.
    const other = start("sleep 600 & wait");
    await page.goto(`${origin}/#/task/${other}?tab=details`);
    await page.getByText("Facts").waitFor({ timeout: SOON });
    mw("kill", other);
    const receipt = page.locator(".card", { hasText: "Kill receipt" });
    await receipt.getByText("SIGTERM").waitFor({ timeout: SOON });
    await receipt.getByText("No process was left behind.").waitFor();
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
    // Somebody else answers a request just before the user does. The one that takes its place is not approved.
    const [gone, next] = ["rm -rf one", "rm -rf two"].map((command) => ended(inSession("agent-1", "start", "--json", command)));
    await until("both are shown", async () => (await page.locator(".requests .request").count()) === 2);
    const first = await page.locator(".requests .request").first().getAttribute("data-request");
    await page.evaluate(() => {
      const requests = document.querySelector(".requests");
      new MutationObserver((_, observer) => {
        observer.disconnect();
        requests.querySelector(".request button.primary").click();
      }).observe(requests, { childList: true });
    });
    mw("deny", first);
    await page.getByText("The requests have just moved.").waitFor({ timeout: SOON });
    const [left] = JSON.parse(mw("approvals", "--json")).approvals;
    assert.notEqual(left.id, first);
    mw("deny", left.id);
    await Promise.all([gone, next]);
    await until("both are gone", async () => (await page.locator(".requests .request").count()) === 0);
    // Always: the rule is shown before it is written.
    const always = ended(inSession("agent-1", "start", "--json", "rm -rf cache"));
    await page.getByRole("button", { name: "Always" }).click();
    const dialog = page.getByRole("dialog");
    const rule = await dialog.getByRole("group", { name: "The rule" }).innerText();
    assert.match(rule, /^\[\[rules\]\][\s\S]*match = "rm -rf cache"/);
    const file = await dialog.locator("code").innerText();
    assert.ok(!fs.existsSync(file), "nothing is written yet");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.ok(!fs.existsSync(file), "nothing is written after a no");
    await page.getByRole("button", { name: "Always" }).click();
    await dialog.getByRole("button", { name: "Approve and add the rule" }).click();
    assert.equal((await always).code, 0);
    await until("the rule is written", () => fs.existsSync(file) && fs.readFileSync(file, "utf8").includes(rule));
    const again = await ended(inSession("agent-2", "start", "--json", "rm -rf cache"));
    assert.equal(again.code, 0, again.text);
    const id = JSON.parse(again.text).id;
    await page.goto(`${origin}/#/task/${id}?tab=details`);
    await page.getByText("Facts").waitFor({ timeout: SOON });
    // A command that no rule can express.
    const open = ended(inSession("agent-1", "start", "--json", "rm *.c"));
    await page.goto(`${origin}/#/approvals`);
    await page.getByRole("button", { name: "Always" }).click();
    await page.getByText(/no rule can allow/).waitFor({ timeout: SOON });
    assert.equal(await dialog.count(), 0);
    // It has taken the place of another request, so it can be approved a moment later.
    const button = page.getByRole("button", { name: "Approve", exact: true });
    await until("it is approved", async () => {
      await button.click({ timeout: 1000 }).catch(() => {});
      return (await page.locator(".requests .request").count()) === 0;
    });
    const approved = JSON.parse((await open).text).id;
    await page.goto(`${origin}/#/task/${approved}?tab=details`);
    const record = page.locator(".card", { hasText: "Approved by" }).filter({ hasText: "Why it asked" });
    await record.getByText("the web page").waitFor({ timeout: SOON });
  },
};
