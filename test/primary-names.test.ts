import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Project } from "../src/publishing/projects/projects.ts";
import { openScene } from "./support/certifying.ts";
import { openCustomer, type Customer } from "./support/customer.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { made } from "./support/shop.ts";

const dayMs = 86_400_000;
let shops = 0;

suite("the primary name of a project", () => {
  let platform: Platform;
  let shop: Customer;
  let zone: string;
  let own: string;
  before(async () => {
    platform = await openPlatform();
  });
  after(() => platform.close());

  const idle = () => platform.service.publishing.idle();
  const project = (patch?: object) =>
    made<Project>(platform.service, patch ? "PATCH" : "GET", `/projects/${shop.project}`, patch, shop.key);
  const deploy = (petstore: object) => platform.deploy(shop.project, { "index.html": shop.page }, { key: shop.key, petstore });
  const withoutPort = (url: string | undefined) => url?.replace(/:\d+/, "");
  const urlOf = async () => withoutPort((await project()).url);
  const primaries = async (...names: string[]) => (await Promise.all(names.map((name) => shop.domain(name)))).map(({ primary }) => primary);
  /** What visitors get of the name, and the canonical link or the redirect's location; over HTTP at the platform's own name. */
  async function visit(host: string): Promise<[status: number, link: string | undefined]> {
    const { status, headers } = await (host === own ? platform.http(host, "/?a=b") : platform.https(host, "/?a=b"));
    return [status, withoutPort(String(headers.link ?? headers.location ?? "") || undefined)];
  }

  async function openShop(): Promise<void> {
    zone = `prime${++shops}.test`;
    own = `prime${shops}.sites.test`;
    shop = await openCustomer(platform, `prime${shops}`, "pro");
    await shop.attach(`www.${zone}`);
    await shop.attach(`old.${zone}`);
  }
  const canonical = (name: string) => `<https://${name}/?a=b>; rel="canonical"`;

  test("is the project's address, and every other name, including the platform's, links to it in every answer with a file", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    assert.equal(await urlOf(), `http://${own}`);
    assert.deepEqual(await visit(own), [200, undefined]);
    assert.equal((await shop.change(www, { primary: true })).body.primary, true);
    assert.match((await project()).url, new RegExp(`^https://www\\.prime${shops}\\.test:\\d+$`));
    assert.deepEqual((await project()).domains, { primary: www, redirects: [] });
    assert.deepEqual(await visit(www), [200, undefined]);
    for (const host of [old, own]) assert.deepEqual(await visit(host), [200, canonical(www)], host);
    assert.equal((await shop.change(old, { primary: true })).status, 200);
    assert.deepEqual(await primaries(www, old), [false, true]);
    assert.deepEqual([await visit(www), await urlOf()], [[200, canonical(old)], `https://${old}`]);
    assert.equal((await shop.change(old, { primary: false })).body.primary, false);
    assert.deepEqual([await visit(www), await urlOf()], [[200, undefined], `http://${own}`]);
  });

  test("has to be verified: any other is a 409 `domain_not_verified`, and nothing changes", async () => {
    await openShop();
    const [www, old, fresh] = [`www.${zone}`, `old.${zone}`, `new.${zone}`];
    await shop.change(www, { primary: true });
    await shop.add(fresh);
    platform.dns.set(old, "CNAME", ["elsewhere.test"]);
    assert.equal((await shop.verify(old)).body.status, "failing");
    for (const name of [fresh, old]) {
      const refused = await shop.change(name, { primary: true });
      assert.deepEqual([refused.status, refused.body.code], [409, "domain_not_verified"]);
    }
    assert.deepEqual([await urlOf(), (await project()).domains.primary], [`https://${www}`, www]);
  });

  test("gets a 308 from every other name if the project asks for that, with path and query, in one hop", async () => {
    await openShop();
    const [www, old, extra] = [`www.${zone}`, `old.${zone}`, `extra.${zone}`];
    await shop.attach(extra);
    await shop.change(extra, { redirect: { to: old, status: 302 } });
    assert.equal((await project()).redirectToPrimary, false);
    assert.equal((await project({ redirectToPrimary: true })).redirectToPrimary, true);
    assert.deepEqual(
      [await visit(old), await visit(own), (await visit(extra))[1]],
      [[200, undefined], [200, undefined], `https://${old}/?a=b`],
      "without a primary name it has no effect",
    );
    await shop.change(www, { primary: true });
    for (const host of [old, own]) assert.deepEqual(await visit(host), [308, `https://${www}/?a=b`], host);
    assert.deepEqual(await visit(extra), [302, `https://${www}/?a=b`], "not by way of another redirect");
    assert.deepEqual(await visit(www), [200, undefined]);
    const [toPrimary, onwards] = [await shop.domain(old), await shop.domain(extra)];
    assert.deepEqual([toPrimary.serving.what, toPrimary.serving.to, onwards.serving.to], ["redirect", www, www]);
    assert.equal((await project({ redirectToPrimary: false })).redirectToPrimary, false);
    assert.deepEqual(await visit(own), [200, canonical(www)]);
  });

  test("may be configured before it is verified: the earlier one stays in effect until the new one is ready", async () => {
    await openShop();
    const [www, fresh] = [`www.${zone}`, `new.${zone}`];
    await shop.change(www, { primary: true });
    await project({ redirectToPrimary: true });
    assert.equal((await deploy({ domains: { primary: fresh } })).status, "ready");
    assert.equal((await project()).domains.primary, fresh);
    assert.deepEqual(await primaries(www, fresh), [false, true]);
    assert.deepEqual([await urlOf(), await visit(own)], [`https://${www}`, [308, `https://${www}/?a=b`]]);
    platform.dns.set(fresh, "CNAME", ["sites.test"]);
    assert.equal((await shop.verify(fresh)).body.status, "verified");
    await idle();
    assert.deepEqual([await urlOf(), await visit(www)], [`https://${fresh}`, [308, `https://${fresh}/?a=b`]]);
    assert.deepEqual(await primaries(www, fresh), [false, true]);
    await shop.remove(fresh);
    assert.deepEqual([await urlOf(), (await project()).domains.primary, await visit(www)], [`http://${own}`, null, [200, undefined]]);
  });

  test("that was configured but never became ready ends with its name, and the earlier one stays primary", async () => {
    await openShop();
    const [www, fresh] = [`www.${zone}`, `new.${zone}`];
    await shop.change(www, { primary: true });
    await deploy({ domains: { primary: fresh } });
    assert.equal((await shop.remove(fresh)).status, 200);
    assert.deepEqual([await primaries(www), (await project()).domains.primary, await urlOf()], [[true], www, `https://${www}`]);
  });

  test("that is the first of its project and not verified leaves the site at its other names until then", async () => {
    await openShop();
    const fresh = `new.${zone}`;
    await project({ redirectToPrimary: true });
    await deploy({ domains: { primary: fresh } });
    for (const host of [own, `www.${zone}`]) assert.deepEqual(await visit(host), [200, undefined], host);
    assert.deepEqual([(await project()).domains.primary, await urlOf()], [fresh, `http://${own}`]);
    platform.dns.set(fresh, "CNAME", ["sites.test"]);
    platform.time.now += 60_000;
    await idle();
    assert.deepEqual(await visit(own), [308, `https://${fresh}/?a=b`], "checked and certified without anybody asking");
  });

  test("that fails or is removed is no longer in effect: the other names serve the site, until it is correct again", async () => {
    await openShop();
    const [www, old] = [`www.${zone}`, `old.${zone}`];
    await shop.change(www, { primary: true });
    await project({ redirectToPrimary: true });
    platform.dns.set(www, "CNAME", ["elsewhere.test"]);
    assert.equal((await shop.verify(www)).body.status, "failing");
    for (const host of [own, old, www]) assert.deepEqual(await visit(host), [200, undefined], host);
    assert.deepEqual([await urlOf(), (await project()).domains.primary], [`http://${own}`, www]);
    platform.dns.set(www, "CNAME", ["sites.test"]);
    await shop.verify(www);
    assert.deepEqual([await urlOf(), await visit(old)], [`https://${www}`, [308, `https://${www}/?a=b`]]);
    await shop.remove(www);
    for (const host of [own, old]) assert.deepEqual(await visit(host), [200, undefined], host);
    assert.deepEqual([await urlOf(), (await project()).domains.primary], [`http://${own}`, null]);
  });

  test("cannot redirect to a name that is not verified, and passes its place to one that is", async () => {
    await openShop();
    const [www, old, fresh] = [`www.${zone}`, `old.${zone}`, `new.${zone}`];
    await shop.add(fresh);
    await shop.change(www, { primary: true });
    const refused = await shop.change(www, { redirect: { to: fresh } });
    assert.deepEqual([refused.status, refused.body.code], [409, "domain_not_verified"]);
    const both = await shop.change(www, { primary: true, redirect: { to: old } });
    assert.deepEqual([both.status, both.body.code], [400, "invalid_request"]);
    assert.deepEqual(await primaries(www, old), [true, false]);
    assert.equal((await shop.change(www, { redirect: { to: old } })).status, 200);
    assert.deepEqual([await primaries(www, old), await urlOf()], [[false, true], `https://${old}`]);
    const configured = await deploy({ domains: { primary: old, redirects: [{ from: old, to: www }] } });
    assert.equal(configured.status, "failed");
    assert.match(configured.error ?? "", /primary name, so it cannot redirect/);
  });

  test("changes the project's ETag, and a change with the earlier ETag is a 412", async () => {
    await openShop();
    const path = `/projects/${shop.project}`;
    const etag = (await platform.service.ask("GET", path, { key: shop.key })).headers.get("etag")!;
    const seen = (value: string) => platform.service.ask("GET", path, { key: shop.key, headers: { "if-none-match": value } });
    assert.equal((await seen(etag)).status, 304);
    await shop.change(`www.${zone}`, { primary: true });
    assert.equal((await seen(etag)).status, 200);
    const body = { redirectToPrimary: true };
    assert.equal((await platform.service.ask("PATCH", path, { key: shop.key, body, headers: { "if-match": etag } })).status, 412);
  });

  test("is shown in the list of projects for each of them", async () => {
    await openShop();
    await shop.change(`www.${zone}`, { primary: true });
    await shop.change(`old.${zone}`, { redirect: { to: `www.${zone}` } });
    const second = await platform.project(`second${shops}`, { "index.html": "second" }, { key: shop.key });
    const listed = await made<Project[]>(platform.service, "GET", "/projects", undefined, shop.key);
    assert.deepEqual(listed[0], await project());
    assert.deepEqual(
      listed.map(({ id, domains }) => [id, domains]),
      [
        [shop.project, { primary: `www.${zone}`, redirects: [{ from: `old.${zone}`, to: `www.${zone}`, status: 301 }] }],
        [second, { primary: null, redirects: [] }],
      ],
    );
  });
});

test("a primary name whose certificate has expired is no longer in effect, and the other names serve the site", async (t) => {
  const { platform, project, proxy, add } = await openScene(t);
  const read = () => made<Project>(platform.service, "GET", `/projects/${project}`);
  await add("www.shop.test");
  await platform.service.ask("PATCH", `/projects/${project}/domains/www.shop.test`, { body: { primary: true } });
  await made(platform.service, "PATCH", `/projects/${project}`, { redirectToPrimary: true });
  assert.equal((await platform.http("rex.sites.test", "/")).status, 308);
  assert.match((await read()).url, /^https:\/\/www\.shop\.test:/);
  proxy.intercept = { before: ({ path }) => (path.startsWith("/order-plz") ? "hang up" : undefined) };
  platform.time.now = Date.parse((await platform.domain(project, "www.shop.test")).certificate.expiresAt!) + dayMs;
  assert.equal((await platform.http("rex.sites.test", "/")).body, "<h1>Rex</h1>");
  assert.match((await read()).url, /^http:\/\/rex\.sites\.test:/);
});

test("without certificates, a primary name takes effect once it is verified, over HTTP", async (t) => {
  const platform = await openPlatform({ directoryUrl: async () => "" });
  t.after(() => platform.close());
  const shop = await openCustomer(platform, "plain", "pro");
  await shop.attach("www.plain.test");
  assert.equal((await shop.change("www.plain.test", { primary: true })).status, 200);
  const { url } = await made<Project>(platform.service, "GET", `/projects/${shop.project}`, undefined, shop.key);
  assert.match(url, /^http:\/\/www\.plain\.test:\d+$/);
  assert.match(String((await platform.http("plain.sites.test", "/")).headers.link), /^<http:\/\/www\.plain\.test:\d+\/>; rel="canonical"$/);

  const files = { "index.html": shop.page };
  for (const fresh of ["new.plain.test", "next.plain.test"]) {
    const earlier = (await made<Project>(platform.service, "GET", `/projects/${shop.project}`, undefined, shop.key)).url;
    await platform.deploy(shop.project, files, { key: shop.key, petstore: { domains: { primary: fresh } } });
    const addressNow = async () => (await made<Project>(platform.service, "GET", `/projects/${shop.project}`, undefined, shop.key)).url;
    assert.equal(await addressNow(), earlier, "stays in effect");
    platform.dns.set(fresh, "CNAME", ["sites.test"]);
    if (fresh.startsWith("new")) await shop.verify(fresh);
    else platform.time.now += 60_000;
    await platform.service.publishing.idle();
    assert.match(await addressNow(), new RegExp(`^http://${fresh}:`), "found by a person's check, or by the service's own");
    const { headers } = await platform.http("plain.sites.test", "/");
    assert.match(String(headers.link), new RegExp(`^<http://${fresh}:`), "at the edge too");
  }
});
