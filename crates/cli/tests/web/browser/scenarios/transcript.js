// An agent: its transcript.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { mw, origin, SOON, touch, until, work } = require("../helpers.js");

module.exports = {
  async transcript({ page }) {
    const { id } = JSON.parse(mw("agent", "--json", "--agent", "mw", "Why do the tests fail?"));
    await page.goto(`${origin}/#/agents`);
    await page.getByRole("link", { name: "Why do the tests fail?" }).click();
    const steps = page.locator(".transcript");
    await steps.getByText("I look at the tests.").waitFor({ timeout: SOON });
    // While a command runs, and after it has ended.
    const tool = steps.locator("details.tool", { hasText: "until test -e go" });
    await until("it runs", () => fs.existsSync(path.join(work, "runs")));
    touch("go");
    await tool.click({ timeout: SOON });
    await tool.locator(".output").getByText("one test failed").waitFor({ timeout: SOON });
    await steps.getByText("The rounding is wrong.").waitFor({ timeout: SOON });
    assert.match(await steps.locator("pre", { hasText: "let cents" }).innerText(), /^let cents = 1;$/);
    assert.equal(await tool.getAttribute("open"), "", "what was opened stays open");
    const text = await steps.innerText();
    assert.ok(text.indexOf("Why do the tests fail?") < text.indexOf("I look at") && text.indexOf("I look at") < text.indexOf("one test failed") && text.indexOf("one test failed") < text.indexOf("The rounding"), text);
    assert.equal(await page.locator("main script, main b").count(), 0, "<script> and <b> are text");
    assert.match(text, /<script>/);
    assert.ok(!text.includes("sk-test-0123456789"), "secrets are hidden");
    await page.goto(`${origin}/#/task/${id}?tab=details`);
    await page.getByText("Agent", { exact: true }).waitFor({ timeout: SOON });
  },
};
