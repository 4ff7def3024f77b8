// All views for people who do not see them.

const fs = require("node:fs");
const assert = require("node:assert/strict");
const { inSession, origin, SOON, start, until } = require("../helpers.js");

module.exports = {
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
};
