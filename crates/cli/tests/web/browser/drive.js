// Plays a scenario in a browser: `node drive.js SCENARIO LINK`.

const assert = require("node:assert/strict");
const { chromium } = require(process.env.PLAYWRIGHT);
const { link, origin, scenario, SOON, until } = require("./helpers.js");

const SCENARIOS = Object.assign({}, ...["access", "accessibility", "acting", "attention", "board", "log", "transcript"].map((name) => require(`./scenarios/${name}.js`)));

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const errors = [];
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(SOON);
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => { if (message.type() === "error" && /Content.Security|Refused to|Trusted/i.test(message.text())) errors.push(message.text()); });
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
