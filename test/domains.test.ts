import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Domain } from "../src/publishing/domains/domains.ts";
import { codesOf } from "./support/customer.ts";
import type { Failure } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

suite("custom domains by their rules (specification 5.1 to 5.11)", () => {
  let platform: Platform;
  let project: number;
  before(async () => {
    platform = await openPlatform();
    project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });
  });
  after(() => platform.close());

  const idle = () => platform.service.publishing.idle();
  const verify = (id: number, hostname: string) => platform.service.ask<Domain>("POST", `/projects/${id}/domains/${hostname}/verify`);

  /** A name with the right record, verified and certified. */
  async function attached(hostname: string, id = project): Promise<Domain> {
    platform.dns.set(hostname, "CNAME", ["sites.test"]);
    assert.equal((await platform.addDomain(id, hostname)).status, 201);
    await idle();
    const domain = await platform.domain(id, hostname);
    assert.equal(domain.certificate.status, "issued", JSON.stringify(domain));
    return domain;
  }

  test("rule 1: a custom domain needs the plan Pro or above", async () => {
    const free = await platform.service.newAccount("free");
    const own = await platform.project("free-shop", { "index.html": "free" }, { key: free.key });
    const refused = await platform.service.ask<Failure>("POST", `/projects/${own}/domains`, {
      key: free.key,
      body: { hostname: "www.free.test" },
    });
    assert.deepEqual([refused.status, refused.body.code], [403, "plan_required"]);
    const petstore = { domains: { primary: "www.free.test" } };
    const deployment = await platform.deploy(own, { "index.html": "free 2" }, { key: free.key, petstore });
    assert.equal(deployment.status, "failed");
    assert.match(deployment.error ?? "", /petstore\.json: `domains`.* plan Pro or above/);
    assert.equal((await platform.http("free-shop.sites.test", "/")).body, "free", "nothing of a refused deployment is applied");
    for (const plan of ["pro", "business"]) {
      const { key } = await platform.service.newAccount(plan);
      const paid = await platform.project(`${plan}-shop`, { "index.html": plan }, { key });
      assert.equal((await platform.addDomain(paid, `www.${plan}.test`, key)).status, 201);
    }
  });

  test("rule 3: the project must have been deployed successfully", async () => {
    const { body } = await platform.service.ask<{ id: number }>("POST", "/projects", { body: { name: "Empty", slug: "empty" } });
    const add = () => platform.service.ask<Failure>("POST", `/projects/${body.id}/domains`, { body: { hostname: "www.empty.test" } });
    const refused = await add();
    assert.deepEqual([refused.status, refused.body.code], [409, "project_not_deployed"]);
    assert.equal((await platform.deploy(body.id, { "index.html": "x" }, { petstore: { name: 7 } })).status, "failed");
    assert.equal((await add()).status, 409);
    assert.equal((await platform.deploy(body.id, { "index.html": "x" })).status, "ready");
    assert.equal((await add()).status, 201);
  });

  test("rule 4: the domain is entered as a host name, in any form in which people write it", async () => {
    const typed = await platform.addDomain(project, " WWW.Bücher.TEST. ");
    assert.equal(typed.status, 201);
    assert.equal(typed.body.hostname, "www.xn--bcher-kva.test");
    assert.equal((await platform.domain(project, encodeURIComponent("www.bücher.test"))).hostname, "www.xn--bcher-kva.test");
    const wrong = [
      "*.shop.test",
      "https://shop.test",
      "192.0.2.1",
      "[::1]",
      "co.uk",
      "localhost",
      "rex.sites.test",
      "sites.test",
      "a..test",
      "a_b.test",
    ];
    for (const hostname of wrong) {
      const refused = await platform.service.ask<Failure>("POST", `/projects/${project}/domains`, { body: { hostname } });
      assert.deepEqual([refused.status, refused.body.code], [400, "invalid_request"], hostname);
    }
  });

  test("rule 5: a subdomain has a CNAME record: its label, the platform target as the dashboard shows it, a TTL of 3600", async () => {
    const labels = {
      "www.labels.test": "www",
      "a.b.labels.test": "a.b",
      "shop.labels.co.uk": "shop",
      "xn--bcher-kva.labels.test": "xn--bcher-kva",
    };
    for (const [hostname, name] of Object.entries(labels)) {
      const { body } = await platform.addDomain(project, hostname);
      assert.deepEqual([body.kind, body.record], ["subdomain", { type: "CNAME", name, value: "sites.test", ttl: 3600 }], hostname);
    }
    assert.equal((await attached("made.labels.test")).status, "verified");
    assert.equal((await platform.https("made.labels.test", "/")).body, "<h1>Rex</h1>");
  });

  test("rule 6: an apex domain has an ALIAS record, and verifies where all of its addresses are the platform's", async () => {
    const added = await platform.addDomain(project, "apex.test");
    assert.equal(added.body.kind, "apex");
    assert.deepEqual(added.body.record, { type: "ALIAS", name: "@", value: "sites.test", ttl: 3600 });
    platform.dns.set("apex.test", "A", ["127.0.0.1", "192.0.2.1"]);
    assert.deepEqual(codesOf((await verify(project, "apex.test")).body), ["conflicting_record"]);
    platform.dns.set("apex.test", "A", ["127.0.0.1"]);
    platform.dns.set("apex.test", "AAAA", ["2001:db8::1"]);
    const leftover = (await verify(project, "apex.test")).body;
    assert.deepEqual([leftover.status, codesOf(leftover)], ["pending", ["conflicting_record"]]);
    assert.match(leftover.problems[0]!.fix, /2001:db8::1/);
    platform.dns.remove("apex.test", "AAAA");
    assert.equal((await verify(project, "apex.test")).body.status, "verified");
    await idle();
    assert.equal((await platform.https("apex.test", "/")).status, 200);
  });

  test("rule 7: a name is checked automatically for 48 hours, then lapses and is free for others", async () => {
    const added = await platform.addDomain(project, "www.late.test");
    await idle();
    const start = Date.parse(added.body.createdAt);
    const waits: number[] = [];
    for (let checked = await platform.domain(project, "www.late.test"); checked.nextCheckAt !== null;) {
      assert.deepEqual(codesOf(checked), ["record_missing"]);
      const next = Date.parse(checked.nextCheckAt);
      waits.push(next - platform.time.now);
      platform.time.now = next;
      await idle();
      checked = await platform.domain(project, "www.late.test");
    }
    assert.ok(platform.time.now - start >= 48 * hourMs - 1_000 && platform.time.now - start <= 48 * hourMs + 1_000);
    assert.deepEqual([...new Set(waits.slice(0, 9))], [minuteMs]);
    assert.ok(waits.includes(10 * minuteMs) && waits.includes(hourMs));
    const other = await platform.service.newAccount("pro");
    const theirs = await platform.project("late-other", { "index.html": "other" }, { key: other.key });
    assert.equal((await platform.addDomain(theirs, "www.late.test", other.key)).status, 201);
    assert.equal((await platform.service.ask("GET", `/projects/${project}/domains/www.late.test`)).status, 404);
  });

  test("rule 7: a record that appears late is found automatically", async () => {
    await platform.addDomain(project, "www.slow.test");
    await idle();
    platform.dns.set("www.slow.test", "CNAME", ["sites.test"]);
    platform.time.now += 5 * hourMs;
    await idle();
    assert.equal((await platform.domain(project, "www.slow.test")).certificate.status, "issued");
    assert.equal((await platform.https("www.slow.test", "/")).body, "<h1>Rex</h1>");
  });

  test("rule 8: a CAA record that blocks the authority is found before an order; after 30 minutes attention names the three checks, and Re-verify orders", async () => {
    platform.dns.set("www.caa.test", "CNAME", ["sites.test"]);
    platform.dns.set("caa.test", "CAA", ['0 issue "other.test"']);
    await platform.addDomain(project, "www.caa.test");
    await idle();
    const blocked = await platform.domain(project, "www.caa.test");
    assert.equal(blocked.status, "verified");
    assert.equal(blocked.certificate.status, "failing");
    assert.deepEqual(codesOf(blocked), ["caa_blocks"]);
    assert.equal(blocked.attention, null);
    platform.time.now += 30 * minuteMs;
    const late = await platform.domain(project, "www.caa.test");
    assert.deepEqual(
      late.attention?.checks.map(({ check, passed }) => [check, passed]),
      [
        ["still_verifies", true],
        ["caa_allows", false],
        ["re_verify", null],
      ],
    );
    platform.dns.set("caa.test", "CAA", ['0 issue "other.test"', '0 issue "ca.test"']);
    assert.equal((await verify(project, "www.caa.test")).status, 200);
    await idle();
    const cured = await platform.domain(project, "www.caa.test");
    assert.deepEqual([cured.certificate.status, cured.attention, cured.problems], ["issued", null, []]);
  });

  test("rule 9: a conflicting A or AAAA record, another target or a missing record makes verification fail, each with a message of its own", async () => {
    await platform.addDomain(project, "www.wrong.test");
    const cases: [type: "A" | "AAAA" | "CNAME", value: string, code: string, fix: RegExp][] = [
      ["A", "192.0.2.7", "conflicting_record", /Delete the A record 192\.0\.2\.7/],
      ["AAAA", "2001:db8::7", "conflicting_record", /Delete the AAAA record/],
      ["CNAME", "sitess.test", "wrong_target", /sites\.test/],
      ["CNAME", "rex.sites.test", "wrong_target", /sites\.test/],
    ];
    for (const [type, value, code, fix] of cases) {
      platform.dns.set("www.wrong.test", type, [value]);
      const { body } = await verify(project, "www.wrong.test");
      assert.deepEqual([body.status, codesOf(body)], ["pending", [code]], value);
      assert.match(body.problems[0]!.fix, fix);
      platform.dns.remove("www.wrong.test");
    }
    platform.dns.set("www.wrong.test", "A", ["192.0.2.7", "192.0.2.8"]);
    platform.dns.set("www.wrong.test", "AAAA", ["2001:db8::7"]);
    const [both] = (await verify(project, "www.wrong.test")).body.problems;
    for (const address of ["192.0.2.7", "192.0.2.8", "2001:db8::7"]) assert.ok(both!.found.includes(address), both!.found);
    platform.dns.remove("www.wrong.test");
    assert.deepEqual(codesOf((await verify(project, "www.wrong.test")).body), ["record_missing"]);
    platform.dns.set("www.wrong.test", "CNAME", ["SITES.test."]);
    assert.equal((await verify(project, "www.wrong.test")).body.status, "verified", "case and final dot aside");
  });

  test("rule 10: petstore.json attaches several domains, the primary and redirects with each status", async () => {
    const own = await platform.project("many", { "index.html": "many" });
    const froms = [301, 302, 307, 308].map((status) => ({ from: `r${status}.many.test`, to: "www.many.test", status }));
    for (const name of ["www.many.test", ...froms.map(({ from }) => from)]) platform.dns.set(name, "CNAME", ["sites.test"]);
    const deployment = await platform.deploy(
      own,
      { "index.html": "many" },
      { petstore: { domains: { primary: "www.many.test", redirects: froms } } },
    );
    assert.equal(deployment.status, "ready", deployment.error ?? "");
    await idle();
    assert.equal((await platform.domain(own, "www.many.test")).primary, true);
    for (const { from, status } of froms) {
      const reply = await platform.https(from, "/a%20b?c=d");
      assert.equal(reply.status, status);
      assert.match(reply.headers.location ?? "", /^https:\/\/www\.many\.test:\d+\/a%20b\?c=d$/);
    }
    const chain = {
      domains: {
        redirects: ["r301", "r302"].map((from, index) => ({ from: `${from}.many.test`, to: ["r302.many.test", "www.many.test"][index] })),
      },
    };
    const refused = await platform.deploy(own, { "index.html": "chained" }, { petstore: chain });
    assert.equal(refused.status, "failed");
    assert.equal((await platform.https("www.many.test", "/")).body, "many");
  });

  test("rule 10: a redirect leads to a served name of the same project, and if its target is removed, the name serves the site", async () => {
    const own = await platform.project("pair", { "index.html": "pair" });
    await attached("www.pair.test", own);
    await attached("old.pair.test", own);
    const patch = (hostname: string, body: object) =>
      platform.service.ask<Domain>("PATCH", `/projects/${own}/domains/${hostname}`, { body });
    assert.equal((await patch("old.pair.test", { redirect: { to: "www.rex.test" } })).status, 400);
    assert.equal((await patch("old.pair.test", { redirect: { to: "www.pair.test", status: 303 } })).status, 400);
    const set = await patch("old.pair.test", { redirect: { to: "www.pair.test" } });
    assert.deepEqual(set.body.redirect, { to: "www.pair.test", status: 301 });
    assert.equal((await platform.https("old.pair.test", "/")).status, 301);
    assert.equal((await patch("www.pair.test", { redirect: { to: "old.pair.test" } })).status, 400, "no loops");
    await platform.service.ask("DELETE", `/projects/${own}/domains/www.pair.test`);
    assert.deepEqual(codesOf(await platform.domain(own, "old.pair.test")), ["redirect_target_not_ready"]);
    assert.equal((await platform.https("old.pair.test", "/")).body, "pair");
    assert.equal((await patch("old.pair.test", { redirect: null })).body.redirect, null);
    assert.equal((await platform.https("old.pair.test", "/")).body, "pair");
  });
});
