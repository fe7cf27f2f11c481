import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

export type Visit = { page: Page; context: BrowserContext; /** Every request that the page has made. */ requests: string[] };

/** Narrow as a small phone. */
export const phone = { width: 360, height: 740 };

/**
 * Opens a page of its own, without animations. When the test ends, nothing may have been logged as an error (which a
 * violated Content-Security-Policy is) and no request may have gone to another host than its own and `hosts`.
 */
export async function visit(
  t: TestContext,
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  hosts: string[] = [],
): Promise<Visit> {
  const context = await browser.newContext({
    reducedMotion: "reduce",
    viewport: { width: 1280, height: 900 },
    locale: "en-GB",
    ...options,
  });
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isAnswer) errors.push(message.text());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(errors, []);
    const asked = new Set(requests.map((request) => new URL(request).host));
    assert.deepEqual([...asked.difference(new Set([new URL(url).host, ...hosts]))], []);
  });
  await page.goto(url);
  await page.getByRole("heading").first().waitFor();
  return { page, context, requests };
}

/** What axe finds against WCAG 2.2 and good practice, each as `rule: element`. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`));
}

/** By how many pixels a page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
