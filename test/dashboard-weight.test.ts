import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { startService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { visitSignedIn } from "./support/signed-in.ts";

/** Of JavaScript, as gzip sends it, until a page that was opened first shows what it has. */
const bytesMax = 300 * 1_024;

const [browser, service] = await stage(startService);
const { id: project } = await made<{ id: number }>(service, "POST", "/projects", { name: "Rex", slug: "rex" });

/** The bytes of a file as it is sent to who takes gzip. */
async function gzipBytes(url: string): Promise<number> {
  const answer = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "gzip" }, signal: AbortSignal.timeout(60_000) });
  assert.equal(answer.status, 200, url);
  return Number(answer.headers.get("content-length"));
}

const ofStore = ["animals", "categories", "orders", "inventory", "import"];
const ofPublishing = ["projects", "projects/ID", "projects/ID/settings", "projects/ID/domains", "domains"];

for (const page of [...ofStore, ...ofPublishing, "usage", "keys", "account"]) {
  test(`the first load of ${page} is at most 300 KB of JavaScript`, async (t) => {
    const visited = await visitSignedIn(t, browser, service, `/dashboard/${page.replace("ID", String(project))}`);
    await visited.page.waitForLoadState("networkidle");
    const scripts = visited.requests.filter((request) => request.endsWith(".js") && new URL(request).pathname.startsWith("/assets/"));
    assert.ok(scripts.length > 0);
    const sizes = await Promise.all([...new Set(scripts)].map(gzipBytes));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    t.diagnostic(`${total} bytes`);
    assert.ok(total <= bytesMax, `${total} bytes`);
  });
}
