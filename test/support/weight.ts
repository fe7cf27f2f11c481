import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Visit } from "./pages.ts";

/** Of JavaScript, as gzip sends it, until a page that was opened first shows what it has. */
const scriptBytesMax = 300_000;

/** Holds the first load of a page to its weight. */
export async function assertLight(t: TestContext, { page, requests }: Visit): Promise<void> {
  await page.waitForLoadState("networkidle");
  const scripts = [...new Set(requests)].filter((request) => /\/assets\/[^/]+\.js$/.test(new URL(request).pathname));
  assert.ok(scripts.length > 2);
  const sizes = await Promise.all(scripts.map(gzipBytes));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  t.diagnostic(`${total} bytes`);
  assert.ok(total <= scriptBytesMax, `${total} bytes`);
}

/** The bytes of a file as it is sent to who takes gzip. */
async function gzipBytes(url: string): Promise<number> {
  const answer = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "gzip" }, signal: AbortSignal.timeout(60_000) });
  assert.equal(answer.status, 200, url);
  return Number(answer.headers.get("content-length"));
}
