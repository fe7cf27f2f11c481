import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Project } from "../src/publishing/projects/projects.ts";
import { openCustomer, type Customer } from "./support/customer.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { made } from "./support/shop.ts";

const dayMs = 86_400_000;
const standardPorts = { EDGE_PUBLIC_HTTP_PORT: "80", EDGE_PUBLIC_HTTPS_PORT: "443" };

suite("browsers must open custom names over HTTPS only (HSTS)", () => {
  let platform: Platform;
  let shop: Customer;
  before(async () => {
    platform = await openPlatform({ env: standardPorts });
    shop = await openCustomer(platform, "shop", "pro");
  });
  after(() => platform.close());

  const hstsOf = async (name: string, path = "/") => (await platform.https(name, path)).headers["strict-transport-security"];
  const setHsts = (hsts: boolean) => made<Project>(platform.service, "PATCH", `/projects/${shop.project}`, { hsts }, shop.key);

  test("for a day in the week after a name was verified, then for a year, on every answer over HTTPS and on none over HTTP", async () => {
    const name = "www.hsts.test";
    await shop.attach(name);
    for (const path of ["/", "/nothing", "/%2e%2e"]) assert.equal(await hstsOf(name, path), "max-age=86400", path);
    assert.equal((await platform.http(name, "/")).headers["strict-transport-security"], undefined);
    assert.equal((await platform.http("shop.sites.test", "/")).headers["strict-transport-security"], undefined);
    platform.time.now += 7 * dayMs - 60_000;
    assert.equal(await hstsOf(name), "max-age=86400");
    platform.time.now += 60_000;
    await shop.verify(name);
    assert.equal(await hstsOf(name), "max-age=31536000", "verifying again does not begin the week anew");
  });

  test("a name that redirects sends it too, and one whose DNS has changed no longer", async () => {
    const name = "old.hsts.test";
    await shop.attach(name);
    await shop.change(name, { redirect: { to: "www.hsts.test" } });
    assert.equal(await hstsOf(name), "max-age=86400");
    platform.dns.set(name, "CNAME", ["elsewhere.test"]);
    assert.equal((await shop.verify(name)).body.status, "failing");
    assert.equal(await hstsOf(name), undefined);
  });

  test("not if the project turns it off, as soon as the answer arrives", async () => {
    assert.equal((await setHsts(false)).hsts, false);
    assert.equal(await hstsOf("www.hsts.test"), undefined);
    assert.equal((await setHsts(true)).hsts, true);
    assert.equal(await hstsOf("www.hsts.test"), "max-age=31536000");
  });

  test("removal and a plan without custom domains warn of it", async () => {
    const name = "gone.hsts.test";
    await shop.attach(name);
    platform.dns.remove(name, "CNAME");
    const removed = await shop.remove(name);
    const { warning } = removed.body as unknown as { warning: string };
    assert.equal(removed.status, 200);
    assert.match(warning, /^Browsers that visited gone\.hsts\.test within the last day/);
    const setPlan = platform.service.administration["accounts.setPlan"];
    assert.equal((await setPlan({ id: shop.id, plan: "pro" })).warning, undefined);
    assert.match(
      (await setPlan({ id: shop.id, plan: "free" })).warning ?? "",
      /^Browsers that have visited a domain open it over HTTPS only/,
    );
    await setPlan({ id: shop.id, plan: "pro" });
  });

  test("a name without HSTS is removed without a warning about it", async () => {
    const name = "quiet.hsts.test";
    await shop.attach(name);
    await setHsts(false);
    platform.dns.remove(name, "CNAME");
    assert.equal((await shop.remove(name)).status, 200);
    await setHsts(true);
  });
});

test("if the public ports are not 80 and 443, no name has HSTS", async (t) => {
  const platform = await openPlatform();
  t.after(() => platform.close());
  const shop = await openCustomer(platform, "shop", "pro");
  await shop.attach("www.ports.test");
  assert.equal((await platform.https("www.ports.test", "/")).headers["strict-transport-security"], undefined);
  platform.dns.remove("www.ports.test", "CNAME");
  assert.equal((await shop.remove("www.ports.test")).status, 200);
});
