import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { startService } from "./support/service.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(startService);

/** Notes in the page what its first paint had: whether the typeface was chosen, and how far anything has moved since. */
const watch = `globalThis.moved = 0;
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) globalThis.moved += value;
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver(() => {
  globalThis.painted ??= document.documentElement.hasAttribute("data-typeface");
}).observe({ type: "paint", buffered: true });`;

async function openPage(t: TestContext): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(watch);
  return page;
}

/** The typefaces that Chromium draws the heading with. */
async function facesOf(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: "h1" });
  const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
  await session.detach();
  return fonts.map(({ familyName }) => familyName);
}

async function assertStill(page: Page, hasTypeface: boolean): Promise<void> {
  await page.evaluate(
    "new Promise((marked) => new PerformanceObserver((list) => list.getEntriesByName('idle').length > 0 && marked()).observe({ type: 'mark', buffered: true }))",
  );
  assert.equal(await page.evaluate("globalThis.painted"), hasTypeface, "at the first paint");
  assert.equal(await page.evaluate("document.documentElement.hasAttribute('data-typeface')"), hasTypeface, "later");
  const moved = await page.evaluate<number>("globalThis.moved");
  assert.ok(moved <= 0.02, `moved by ${moved}`);
  assert.equal(
    (await facesOf(page)).some((name) => name.startsWith("Inter")),
    hasTypeface,
  );
}

for (const path of ["/", "/sign-in", "/reference"]) {
  test(`${path} has the typeface from its first paint, with a cold and a warm cache, also if it comes after the styles`, async (t) => {
    const page = await openPage(t);
    const styled = Promise.withResolvers<void>();
    page.on("requestfinished", (request) => void (request.url().endsWith(".css") && styled.resolve()));
    await page.route("**/*.woff2", async (route) => {
      await styled.promise;
      await route.continue();
    });
    await page.goto(service.address + path);
    await assertStill(page, true);
    await page.unroute("**/*.woff2");
    await page.goto(service.address + path);
    await assertStill(page, true);
  });
}

test("a page whose typeface fails, or comes after two seconds, keeps the system's", async (t) => {
  const failing = await openPage(t);
  await failing.route("**/*.woff2", (route) => route.abort());
  await failing.goto(`${service.address}/sign-in`);
  await assertStill(failing, false);

  const slow = await openPage(t);
  const shown = Promise.withResolvers<void>();
  await slow.route("**/*.woff2", async (route) => {
    await shown.promise;
    await route.continue();
  });
  const loaded = slow.goto(`${service.address}/sign-in`, { waitUntil: "commit" });
  await loaded;
  await until(() =>
    slow.evaluate<boolean>("document.documentElement.hasAttribute('data-waits') === false && globalThis.painted === false"),
  );
  const came = slow.waitForEvent("requestfinished", (request) => request.url().endsWith(".woff2"));
  shown.resolve();
  await came;
  await assertStill(slow, false);
});
