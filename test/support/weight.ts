import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Visit } from "./pages.ts";

/** The most JavaScript, compressed by Brotli, that a first page may load before it is idle. */
const scriptBytesMax = 230_000;
const scriptsMax = 12;

/** A promise of the page's mark `idle`, which the page sets once it has rendered everything. */
export const idle = `new Promise((marked) => {
  new PerformanceObserver((list) => list.getEntriesByName("idle").length > 0 && marked()).observe({ type: "mark", buffered: true });
})`;

/** The addresses of the scripts that were requested before the page became idle. */
const scriptsAtFirst = `(() => {
  const [idle] = performance.getEntriesByName("idle");
  const early = performance.getEntriesByType("resource").filter(({ startTime }) => startTime < idle.startTime);
  return early.map(({ name }) => name).filter((name) => /\\/assets\\/[^/]+\\.js$/.test(name));
})()`;

/** The addresses below a path that the page read before it became idle, and by what: `link` if the service named it with the page. */
const readsAtFirst = (below: string) => `(() => {
  const [idle] = performance.getEntriesByName("idle");
  return performance.getEntriesByType("resource")
    .map(({ name, initiatorType, startTime }) => ({ path: name.slice(location.origin.length), by: initiatorType, isFirst: startTime < idle.startTime }))
    .filter(({ path, isFirst }) => isFirst && path.startsWith(${JSON.stringify(below)}));
})()`;

/** How much the page has moved (https://web.dev/articles/cls). */
const shift = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (shift += value))).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(shift), 200);
})`;
const shiftMax = 0.02;

/** Checks that the first load of a page stays within its weight, and that the service names all its scripts with the page, for the browser to request at once. */
export async function assertLight(t: TestContext, { page, requests: [asked = ""] }: Visit): Promise<void> {
  await page.evaluate(idle);
  const scripts = [...new Set(await page.evaluate<string[]>(scriptsAtFirst))];
  assert.ok(scripts.length > 2);
  const named = await scriptsNamedWith(asked);
  assert.deepEqual(
    scripts.filter((url) => !named.has(new URL(url).pathname)),
    [],
    "named with the page",
  );
  const sizes = await Promise.all(scripts.map(brotliBytes));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  t.diagnostic(`${scripts.length} files, ${total} bytes`);
  assert.ok(scripts.length <= scriptsMax, scripts.join(" "));
  assert.ok(total <= scriptBytesMax, `${total} bytes`);
}

/**
 * Checks that the service has named all that the page reads first, so that the browser asks for it with the scripts, and that the page reads
 * none of it twice.
 *
 * @param below how the addresses of reads begin
 * @param later those that depend on the answer of another
 */
export async function assertAskedAtOnce({ page }: Visit, below: string, later: string[] = []): Promise<void> {
  await page.evaluate(idle);
  const reads = await page.evaluate<{ path: string; by: string }[]>(readsAtFirst(below));
  assert.ok(reads.length > 0);
  assert.deepEqual(
    reads.filter(({ path, by }) => by !== "link" && !later.includes(path)),
    [],
  );
}

/** Checks that nothing on the page moved while it loaded. */
export async function assertStill({ page }: Visit): Promise<void> {
  await page.evaluate(idle);
  const moved = await page.evaluate<number>(shift);
  assert.ok(moved <= shiftMax, `a shift of ${moved}`);
}

/** The paths of the scripts in the `Link` header and the markup of a page. */
async function scriptsNamedWith(url: string): Promise<Set<string>> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  const text = `${answer.headers.get("link") ?? ""} ${await answer.text()}`;
  return new Set(text.match(/\/assets\/[\w-]+\.js/g));
}

/** The bytes of a file as a client that accepts Brotli gets it. */
async function brotliBytes(url: string): Promise<number> {
  const answer = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "br" }, signal: AbortSignal.timeout(60_000) });
  assert.equal(answer.status, 200, url);
  assert.equal(answer.headers.get("content-encoding"), "br", url);
  return Number(answer.headers.get("content-length"));
}
