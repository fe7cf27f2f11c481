import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core";

export type PageOptions = BrowserContextOptions & { /** The browser has no file of the service yet. */ isFirstVisit?: boolean };

/** A page for one test, and what gives it back: nothing of the test is left for the next but files in the browser's cache. */
export type Lent = { page: Page; context: BrowserContext; devtools: CDPSession; giveBack: () => Promise<void> };

/** A page that one test after another uses, until one has done with it what nothing takes back. */
type Shared = { page: Page; context: BrowserContext; devtools: CDPSession; isChanged: () => boolean };

/** The pages that no test uses at present. */
const free = new WeakMap<Browser, Shared[]>();

const viewport = { width: 1280, height: 900 };
const usual: BrowserContextOptions = { reducedMotion: "reduce", viewport, locale: "en-GB" };
const usualMedia = { reducedMotion: "reduce", colorScheme: "light", forcedColors: "none", contrast: null, media: null } as const;

/**
 * Lends a page of this origin, without animations. Tests that ask for nothing that a page cannot take back use one after another: a new page
 * takes a third more CPU time for each visit, and a new context another third, since its new process starts cold.
 */
export async function lendPage(browser: Browser, origin: string, { isFirstVisit, ...options }: PageOptions): Promise<Lent> {
  const { viewport: size, storageState, timezoneId, permissions, colorScheme, ...more } = options;
  if (Object.keys(more).length > 0 || typeof storageState === "string") {
    const context = await browser.newContext({ ...usual, ...options });
    const page = await context.newPage();
    return { page, context, devtools: await context.newCDPSession(page), giveBack: () => context.close() };
  }
  const shared = free.get(browser)?.pop() ?? (await openShared(browser));
  const { page, context, devtools } = shared;
  if (isFirstVisit) await devtools.send("Network.clearBrowserCache");
  await context.addCookies(storageState?.cookies ?? []);
  if (permissions) await context.grantPermissions(permissions, { origin });
  if (timezoneId) await devtools.send("Emulation.setTimezoneOverride", { timezoneId });
  if (colorScheme) await page.emulateMedia({ colorScheme });
  if (size) await page.setViewportSize(size);
  return { page, context, devtools, giveBack: () => giveBack(browser, shared, origin) };
}

async function openShared(browser: Browser): Promise<Shared> {
  const context = await browser.newContext(usual);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  let isChanged = false;
  const watch = <Name extends string>(target: Record<Name, (...args: never[]) => unknown>, name: Name): void => {
    const call = target[name];
    target[name] = (...args) => ((isChanged = true), call.apply(target, args));
  };
  watch(page, "addInitScript");
  watch(page.clock, "install");
  watch(context, "newCDPSession");
  return { page, context, devtools, isChanged: () => isChanged };
}

/** Closes the other pages, and forgets what was stored but for the cache: to load and compile all scripts again takes a quarter of a visit. */
async function giveBack(browser: Browser, shared: Shared, origin: string): Promise<void> {
  const { page, context, devtools, isChanged } = shared;
  for (const event of ["request", "pageerror", "console", "dialog"]) page.removeAllListeners(event);
  if (isChanged() || page.isClosed() || new URL(page.url()).origin !== origin) return context.close();
  const others = context.pages().filter((one) => one !== page);
  await Promise.all(others.map((one) => one.close()));
  // what a page stores when it is left is stored before that
  await page.evaluate("addEventListener('pagehide', () => sessionStorage.clear())");
  await page.goto("about:blank");
  await Promise.all([context.clearCookies(), context.clearPermissions(), context.setOffline(false)]);
  await Promise.all([page.setViewportSize(viewport), page.emulateMedia(usualMedia), page.mouse.move(-1, -1)]);
  await devtools.send("WebAuthn.disable");
  await devtools.send("Emulation.setTimezoneOverride", { timezoneId: "" });
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  free.set(browser, [...(free.get(browser) ?? []), shared]);
}
