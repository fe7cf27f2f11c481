import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { openScene } from "./support/certifying.ts";
import { codesOf, openCustomer, type Customer } from "./support/customer.ts";
import { openNamedShop, viewsOf } from "./support/named-shop.ts";
import { openPlatform, type Platform } from "./support/platform.ts";

const dayMs = 86_400_000;
let shops = 0;

suite("redirects between the names of a project", () => {
  let platform: Platform;
  let shop: Customer;
  let zone: string;
  before(async () => {
    platform = await openPlatform();
  });
  after(() => platform.close());

  const idle = () => platform.service.publishing.idle();
  const { page, config, deploy, locationOf } = viewsOf(() => ({ platform, shop }));

  const openShop = async (): Promise<void> => {
    ({ zone, shop } = await openNamedShop(platform, `shop${++shops}`));
  };

  test("a redirect to an unverified name waits: the site is served, a problem says why, and it takes effect when the target is ready", async () => {
    await openShop();
    const [www, fresh] = [`www.${zone}`, `new.${zone}`];
    await shop.add(fresh);
    await idle();
    const waiting = await shop.change(www, { redirect: { to: fresh } });
    assert.equal(waiting.status, 200);
    assert.deepEqual(codesOf(waiting.body), ["redirect_target_not_ready"]);
    assert.match(waiting.body.problems[0]!.found, /has not been verified/);
    assert.deepEqual([waiting.body.redirect, waiting.body.serving.what], [{ to: fresh, status: 301 }, "site"]);
    assert.equal(await page(www), shop.page);
    assert.equal((await shop.domain(fresh)).serving.what, "nothing");

    platform.dns.set(fresh, "CNAME", ["sites.test"]);
    assert.equal((await shop.verify(fresh)).body.status, "verified");
    await idle();
    assert.deepEqual(await locationOf(www), [301, `https://${fresh}/a?b=c`]);
    const ready = await shop.domain(www);
    assert.deepEqual([codesOf(ready), ready.serving.what, ready.serving.to], [[], "redirect", fresh]);

    platform.dns.set(fresh, "CNAME", ["elsewhere.test"]);
    assert.equal((await shop.verify(fresh)).body.status, "failing");
    assert.equal(await page(www), shop.page, "the target has failed");
    assert.match((await shop.domain(www)).problems[0]!.found, /the DNS of .* has changed/);
    platform.dns.set(fresh, "CNAME", ["sites.test"]);
    await shop.verify(fresh);
    assert.equal((await locationOf(www))[0], 301);

    const removed = await shop.remove(fresh);
    assert.equal(removed.status, 200);
    const { redirects, warning } = removed.body as unknown as { redirects: string[]; warning: string };
    assert.deepEqual(redirects, [www]);
    assert.match(warning, /delete its CNAME record/);
    assert.equal(await page(www), shop.page, "the target has been removed");
    assert.match((await shop.domain(www)).problems[0]!.found, /is not attached to this project/);
    await shop.attach(fresh);
    assert.equal((await locationOf(www))[0], 301, "the target is back");
  });

  test("removing a name lists the names that redirected to it, none if there are none, and has no warning if no DNS record is left", async () => {
    await openShop();
    await shop.change(`old.${zone}`, { redirect: { to: `www.${zone}` } });
    for (const name of ["www", "old"]) platform.dns.remove(`${name}.${zone}`, "CNAME");
    const removed = await shop.remove(`www.${zone}`);
    assert.deepEqual([removed.status, removed.body], [200, { hostname: `www.${zone}`, redirects: [`old.${zone}`] }]);
    const last = await shop.remove(`old.${zone}`);
    assert.deepEqual([last.status, last.body], [200, { hostname: `old.${zone}`, redirects: [] }]);
  });

  test("a mistyped `to` in petstore.json fails the deployment: no domain is attached, no redirect changes and the old files stay", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    for (const to of [`wwww.${zone}`, "www.google.com", `extra.${zone}`]) {
      const redirects = [
        { from: old, to },
        { from: `extra.${zone}`, to: www },
      ];
      const failed = await deploy({ domains: { primary: www, redirects } }, "new");
      assert.equal(failed.status, "failed", to);
      assert.match(failed.error ?? "", /^petstore\.json: .*redirect|^petstore\.json: domains\.redirects\[0\]\.to: No name/);
      assert.equal((await shop.get(to)).status, 404, "not attached");
      assert.equal((await shop.get(`extra.${zone}`)).status, 404, "not attached");
      assert.deepEqual((await config()).domains, { primary: null, redirects: [] });
      assert.deepEqual([await page(www), await page(old)], [shop.page, shop.page]);
    }
    assert.match((await deploy({ domains: { redirects: [{ from: old, to: `wwww.${zone}` }] } })).error ?? "", /typing error for www\./);
    const fixed = await deploy({ domains: { redirects: [{ from: old, to: www }] } }, "new");
    assert.equal(fixed.status, "ready", fixed.error ?? "");
    assert.deepEqual([await page(www), (await locationOf(old))[0]], ["new", 301]);
  });

  test("the redirects of petstore.json replace all earlier ones: an empty list removes them, an absent list changes nothing", async () => {
    await openShop();
    const [www, old, extra] = [`www.${zone}`, `old.${zone}`, `extra.${zone}`];
    await shop.attach(extra);
    await shop.change(extra, { redirect: { to: www, status: 302 } });
    assert.deepEqual((await config()).domains.redirects, [{ from: extra, to: www, status: 302 }]);
    await deploy({ domains: { redirects: [{ from: old, to: www, status: 308 }] } });
    assert.deepEqual((await config()).domains.redirects, [{ from: old, to: www, status: 308 }]);
    assert.equal(await page(extra), shop.page, "still attached");
    for (const domains of [undefined, {}, { primary: www }]) await deploy({ ...(domains && { domains }) });
    assert.deepEqual((await config()).domains, { primary: www, redirects: [{ from: old, to: www, status: 308 }] });
    await deploy({ domains: { redirects: [] } });
    assert.deepEqual((await config()).domains, { primary: www, redirects: [] });
    assert.equal(await page(old), shop.page);
    assert.equal((await shop.get(old)).status, 200, "still attached");
  });

  test("a petstore.json that reverses redirects set by the API is applied", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    await shop.change(old, { redirect: { to: www } });
    const turned = await deploy({ domains: { primary: old, redirects: [{ from: www, to: old }] } });
    assert.equal(turned.status, "ready", turned.error ?? "");
    assert.deepEqual([(await locationOf(www))[1], await page(old)], [`https://${old}/a?b=c`, shop.page]);
    assert.deepEqual((await config()).domains, { primary: old, redirects: [{ from: www, to: old, status: 301 }] });
  });

  test("chains, loops, a redirect to itself and targets of other projects are refused, and change nothing", async () => {
    await openShop();
    const [www, old, extra] = [`www.${zone}`, `old.${zone}`, `extra.${zone}`];
    await shop.attach(extra);
    const other = await platform.project(`beside${shops}`, { "index.html": "beside" }, { key: shop.key });
    assert.equal((await platform.addDomain(other, `beside.${zone}`, shop.key)).status, 201);
    await shop.change(old, { redirect: { to: www } });
    const earlier = await config();
    const wrong: [name: string, to: string][] = [
      [extra, old],
      [www, old],
      [www, extra],
      [extra, extra],
      [extra, `beside.${zone}`],
      [extra, `nobody.${zone}`],
    ];
    for (const [name, to] of wrong) {
      const refused = await shop.change(name, { redirect: { to } });
      assert.deepEqual([refused.status, refused.body.code], [400, "invalid_request"], `${name} → ${to}`);
    }
    const files = [
      [{ from: extra, to: `beside.${zone}` }],
      [{ from: extra, to: extra }],
      [
        { from: extra, to: old },
        { from: old, to: www },
      ],
      [
        { from: www, to: old },
        { from: old, to: www },
      ],
      [
        { from: extra, to: www },
        { from: extra, to: old },
      ],
    ];
    for (const redirects of files) {
      assert.equal((await deploy({ domains: { redirects } }, "new")).status, "failed", JSON.stringify(redirects));
    }
    assert.deepEqual((await config()).domains, earlier.domains);
    assert.deepEqual([await page(www), await page(extra), (await locationOf(old))[0]], [shop.page, shop.page, 301]);
  });

  test("no name redirects to a target that moved to another project while the redirect waited", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    await shop.change(old, { redirect: { to: www } });
    await shop.remove(www);
    const other = await platform.project(`taker${shops}`, { "index.html": "taker" }, { key: shop.key });
    assert.equal((await platform.addDomain(other, www, shop.key)).status, 201);
    await idle();
    assert.deepEqual([await page(www), await page(old)], ["taker", shop.page]);
    assert.deepEqual(codesOf(await shop.domain(old)), ["redirect_target_not_ready"]);
  });

  test("the ETag of a domain changes when another name changes what it serves", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    const path = `/projects/${shop.project}/domains/${old}`;
    const read = (etag?: string) =>
      platform.service.ask("GET", path, { key: shop.key, ...(etag !== undefined && { headers: { "if-none-match": etag } }) });
    await shop.change(old, { redirect: { to: www } });
    const etag = (await read()).headers.get("etag")!;
    assert.equal((await read(etag)).status, 304);
    await shop.remove(www);
    assert.equal((await read(etag)).status, 200);
    const stale = await platform.service.ask("PATCH", path, { key: shop.key, body: { redirect: null }, headers: { "if-match": etag } });
    assert.equal(stale.status, 412);
  });
});

test("a redirect waits for its target's certificate, and the site is served again once that certificate has expired", async (t) => {
  const { platform, project, proxy, add, idle } = await openScene(t);
  const [www, fresh] = ["www.shop.test", "new.shop.test"];
  const change = (body: object) => platform.service.ask("PATCH", `/projects/${project}/domains/${www}`, { body });
  const page = async () => (await platform.https(www, "/")).status;
  await add(www);
  proxy.intercept = { before: ({ path }) => (path.startsWith("/order-plz") ? "hang up" : undefined) };
  await add(fresh);
  assert.equal((await platform.domain(project, fresh)).status, "verified");
  assert.equal((await change({ redirect: { to: fresh } })).status, 200);
  assert.match((await platform.domain(project, www)).problems[0]!.found, /has no certificate yet/);
  assert.equal(await page(), 200);

  proxy.intercept = {};
  platform.time.now = Date.parse((await platform.domain(project, fresh)).certificate.retryAt!);
  await idle();
  assert.equal(await page(), 301);

  proxy.intercept = { before: ({ path }) => (path.startsWith("/order-plz") ? "hang up" : undefined) };
  const { certificate } = await platform.domain(project, fresh);
  platform.time.now = Date.parse(certificate.expiresAt!) + dayMs;
  assert.equal((await platform.domain(project, www)).serving.what, "site");
  assert.match((await platform.domain(project, www)).problems.at(-1)!.found, /certificate of new\.shop\.test has expired/);
});

test("without a certificate authority a redirect waits until its target is verified, and leads to it over HTTP", async (t) => {
  const platform = await openPlatform({ directoryUrl: async () => "" });
  t.after(() => platform.close());
  const shop = await openCustomer(platform, "plain", "pro");
  await shop.attach("www.plain.test");
  await shop.add("new.plain.test");
  await shop.change("www.plain.test", { redirect: { to: "new.plain.test" } });
  const waiting = await shop.domain("www.plain.test");
  assert.deepEqual([codesOf(waiting), waiting.problems[0]?.expected], [["redirect_target_not_ready"], "new.plain.test verified"]);
  assert.equal((await platform.http("www.plain.test", "/")).body, shop.page);
  platform.dns.set("new.plain.test", "CNAME", ["sites.test"]);
  assert.equal((await shop.verify("new.plain.test")).body.status, "verified");
  const { status, headers } = await platform.http("www.plain.test", "/a");
  assert.equal(status, 301);
  assert.match(headers.location ?? "", /^http:\/\/new\.plain\.test:\d+\/a$/);
});
