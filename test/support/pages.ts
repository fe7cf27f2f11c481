import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { lendPage, type PageOptions } from "./contexts.ts";

export type Visit = {
  page: Page;
  context: BrowserContext;
  /** What this sets of authenticators and the time zone ends with the visit. */
  devtools: CDPSession;
  /** Every request that the page has made. */
  requests: string[];
};

/** Narrow as a small phone. */
export const phone = { width: 360, height: 740 };
/** The narrowest window that pages must fit (WCAG 2.2, 1.4.10). */
export const smallestPhone = { width: 320, height: 640 };

/**
 * Opens a page of its own, without animations. When the test ends, nothing may have been logged as an error (which a
 * violated Content-Security-Policy is) and no request may have gone to another host than its own and `hosts`.
 */
export async function visit(
  t: TestContext,
  browser: Browser,
  url: string,
  options: PageOptions = {},
  hosts: string[] = [],
): Promise<Visit> {
  const { page, context, devtools, giveBack } = await lendPage(browser, new URL(url).origin, options);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.name} ${error.message} ${error.stack ?? ""}`));
  page.on("console", (message) => {
    const isAnswer = message.text().startsWith("Failed to load resource");
    const { url: script, lineNumber } = message.location();
    if (message.type() === "error" && !isAnswer) errors.push(`${page.url()}: ${message.text()} (${script}:${lineNumber})`);
  });
  t.after(async () => {
    if (browser.isConnected()) {
      // a request that a test holds up may come after its last line
      await Promise.all([page, context].map((held) => held.unrouteAll({ behavior: "ignoreErrors" })));
      await giveBack();
    }
    assert.deepEqual(errors, []);
    // files that the page itself made, such as the preview of a chosen photo, have an address without a host
    const asked = new Set(requests.filter((request) => !request.startsWith("blob:")).map((request) => new URL(request).host));
    assert.deepEqual([...asked.difference(new Set([new URL(url).host, ...hosts]))], []);
  });
  await page.goto(url);
  await page.getByRole("heading").first().waitFor();
  await page.locator(".early-text").waitFor({ state: "detached" });
  return { page, context, devtools, requests };
}

/**
 * Shows another path of the dashboard as a link in the page would, without loading it: that takes a third of the CPU time of a load.
 * Returns when nothing of the previous page is left. Paths of one route, such as those of two orders, keep their page: they need a load.
 */
export async function goWithin(page: Page, path: string): Promise<void> {
  const heading = page.getByRole("heading", { level: 1 }).first();
  await heading.waitFor();
  await page.evaluate(`{
    const to = new URL(${JSON.stringify(path)}, location.href);
    if (to.pathname === location.pathname) throw new Error("the page is at this path already");
    document.querySelector("h1").setAttribute("data-left", "");
    history.pushState(null, "", to);
  }`);
  await page.locator("h1[data-left]").waitFor({ state: "detached" });
  await heading.waitFor();
}

/** Minified, since it is sent to each page that is looked at. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

type Asked = {
  rules?: string[];
  without?: string[];
  /** Looks only at these elements, and what is in them: an expression that the page evaluates. */
  within?: string;
};

/** What axe finds against WCAG 2.2 and good practice, by all rules, these alone or all without some, each as `rule: element`. */
export async function findings(page: Page, { rules, without = [], within = "[document]" }: Asked = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axeSource);
  await finishTransitions(page);
  const off = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const options = JSON.stringify({ resultTypes: ["violations"], rules: off, ...(rules && { runOnly: rules }) });
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ include: ${within} }, ${options})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`));
}

/** Checks that axe finds nothing on the page as it stands, in light colours and, where only the colours differ, in dark ones. */
export async function assertAccessible(page: Page, message = ""): Promise<void> {
  assert.deepEqual(await findings(page), [], `${message} in light colours`);
  await changeColours(page, "dark");
  assert.deepEqual(await findings(page, { rules: ["color-contrast"] }), [], `${message} in dark colours`);
  await changeColours(page, "light");
}

/** Checks that axe finds nothing on the page, as wide as it is and on a phone, and that the page fits the phone. The window stays as narrow as that. */
export async function assertAccessibleOnPhone(page: Page, message = ""): Promise<void> {
  const wasOnPhone = page.viewportSize()?.width === phone.width;
  assert.deepEqual(await findings(page), [], `${message} in light colours`);
  await rememberLooks(page, "light");
  // both widths in dark colours before light ones return: each change of colours takes a tenth of the whole
  await changeColours(page, "dark");
  assert.deepEqual(await findings(page, { rules: ["color-contrast"] }), [], `${message} in dark colours`);
  await rememberLooks(page, "dark");
  await page.setViewportSize(smallestPhone);
  assert.equal(await overflow(page), 0, `${message} 320 px wide`);
  await page.setViewportSize(phone);
  assert.equal(await overflow(page), 0, message);
  if (wasOnPhone) return changeColours(page, "light");
  assert.deepEqual(await newContrast(page, "dark"), [], `${message} on a phone in dark colours`);
  await changeColours(page, "light");
  assert.deepEqual(await findings(page, { without: ["color-contrast"] }), [], `${message} on a phone`);
  assert.deepEqual(await newContrast(page, "light"), [], `${message} on a phone in light colours`);
}

type Scheme = "light" | "dark";

/** What the contrast of an element depends on, as a function of the page. */
const look = `((element) => {
  const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, textShadow } = getComputedStyle(element);
  return [element.checkVisibility(), color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, textShadow].join();
})`;

async function rememberLooks(page: Page, scheme: Scheme): Promise<void> {
  await page.evaluate(
    `(globalThis.looks ??= {}).${scheme} = new Map([...document.querySelectorAll("*")].map((one) => [one, ${look}(one)]))`,
  );
}

/** What axe finds against the contrast of what looks other than it did. To look at the rest again would take half the time of a test. */
async function newContrast(page: Page, scheme: Scheme): Promise<string[]> {
  await finishTransitions(page);
  const within = `[...document.querySelectorAll("*")].filter((one) => one.checkVisibility() && looks.${scheme}.get(one) !== ${look}(one))`;
  if (await page.evaluate<boolean>(`${within}.length === 0`)) return [];
  return findings(page, { rules: ["color-contrast"], within });
}

async function finishTransitions(page: Page): Promise<void> {
  await page.evaluate("document.getAnimations().forEach((one) => one instanceof CSSTransition && one.finish())");
}

async function changeColours(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.locator(`html:not([data-mantine-color-scheme=${scheme === "dark" ? "light" : "dark"}])`).waitFor();
}

/** By how many pixels a page is wider than its window, in a frame that is shown: tables take their shape before it. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
    resolve(document.documentElement.scrollWidth - document.documentElement.clientWidth))))`);
}

/** Whether the middle of the first match can be seen: it is in the window, and nothing is over it, such as the header. */
export function isUncovered(page: Page, selector: string): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)});
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  })()`);
}
