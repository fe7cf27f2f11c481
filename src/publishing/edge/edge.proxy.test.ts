import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { test, type TestContext } from "node:test";
import { fetchFrom, openTestEdge, throwAwayCertificate } from "../../../test/support/test-edge.ts";

const host = "www.example.com";

/** Opens an edge whose trusted proxies are in a range, with a site that has a certificate. */
async function openBehind(t: TestContext, range: string) {
  const trustedProxies = new BlockList();
  trustedProxies.addSubnet(range, 8);
  const edge = await openTestEdge({ trustedProxies });
  t.after(() => edge.close(0));
  await edge.publish(host, { "index.html": "<p>here</p>" });
  edge.certificates.set(host, throwAwayCertificate(host));
  edge.sites.set("example.com", { status: "redirect", to: host, code: 301 });
  return (name: string, proto?: string) =>
    fetchFrom(edge, name, "/", { headers: proto === undefined ? {} : { "x-forwarded-proto": proto } });
}

test("a visitor who reached a trusted proxy over HTTPS is not redirected to HTTPS again", async (t) => {
  const get = await openBehind(t, "127.0.0.0");
  for (const proto of ["https", "HTTPS", "https, http", "https,http"]) {
    const { status, body } = await get(host, proto);
    assert.deepEqual([status, body.toString()], [200, "<p>here</p>"], proto);
  }
  for (const proto of [undefined, "http", "http, https", "", "httpsx"]) assert.equal((await get(host, proto)).status, 308, proto ?? "none");
});

test("a redirecting domain redirects behind a proxy too", async (t) => {
  const get = await openBehind(t, "127.0.0.0");
  const { status, headers } = await get("example.com", "https");
  assert.equal(status, 301);
  assert.match(headers.location ?? "", /^https:\/\/www\.example\.com:\d+\/$/);
});

test("X-Forwarded-Proto is ignored unless a trusted proxy sends it", async (t) => {
  const get = await openBehind(t, "10.0.0.0");
  assert.equal((await get(host, "https")).status, 308);
});
