import type { Browser, BrowserContext, BrowserContextOptions, CDPSession } from "playwright-core";

/** A context for one test, and what gives it back: nothing of the test is left for the next. */
export type Lent = { context: BrowserContext; giveBack: () => Promise<void> };

/** A context that one test after another uses, and a page of it that keeps its renderer, and the code in it, warm. */
type Shared = { context: BrowserContext; devtools: CDPSession; origin: string };

/** The contexts that no test uses at present. */
const free = new WeakMap<Browser, Shared[]>();

const usual: BrowserContextOptions = { reducedMotion: "reduce", viewport: { width: 1280, height: 900 }, locale: "en-GB" };

/**
 * Lends a context whose pages are of this origin, without animations. Tests that ask for nothing more than a size and cookies use
 * one after another: a new one has a new process, which starts, loads and compiles all scripts again, for a third of the test's CPU time.
 */
export async function lendContext(browser: Browser, origin: string, options: BrowserContextOptions): Promise<Lent> {
  const { viewport: _, storageState, ...more } = options;
  if (Object.keys(more).length > 0 || typeof storageState === "string") {
    const context = await browser.newContext({ ...usual, ...options });
    return { context, giveBack: () => context.close() };
  }
  const kept = free.get(browser)?.find((one) => one.origin === origin);
  const shared = kept ?? (await openShared(browser, origin));
  free.set(browser, free.get(browser)?.filter((one) => one !== shared) ?? []);
  await shared.context.addCookies(storageState?.cookies ?? []);
  return { context: shared.context, giveBack: () => giveBack(browser, shared) };
}

async function openShared(browser: Browser, origin: string): Promise<Shared> {
  const context = await browser.newContext(usual);
  const page = await context.newPage();
  await page.goto(`${origin}/healthz`);
  return { context, devtools: await context.newCDPSession(page), origin };
}

/** Closes what was opened and forgets what was stored. A context whose clock was replaced stays so, and is closed. */
async function giveBack(browser: Browser, { context, devtools, origin }: Shared): Promise<void> {
  const [keeper, ...opened] = context.pages();
  const hasClock = await Promise.all(opened.map((page) => page.evaluate<boolean>("'__pwClock' in globalThis").catch(() => true)));
  if (!keeper || opened.length === 0 || hasClock.includes(true)) return context.close();
  await Promise.all(opened.map((page) => page.close()));
  await Promise.all([
    context.clearCookies(),
    context.clearPermissions(),
    context.setOffline(false),
    devtools.send("Network.clearBrowserCache"),
    devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" }),
  ]);
  free.set(browser, [...(free.get(browser) ?? []), { context, devtools, origin }]);
}
