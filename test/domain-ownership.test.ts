import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Domain } from "../src/publishing/domains/domains.ts";
import { deleteOldLost } from "../src/publishing/domains/lost-domains.store.ts";
import { codesOf, openCustomer, type Customer } from "./support/customer.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { testOnce } from "./support/service.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

suite("a name belongs to the account that controls its DNS", () => {
  let platform: Platform;
  let owner: Customer;
  let other: Customer;
  before(async () => {
    platform = await openPlatform();
    owner = await openCustomer(platform, "owner");
    other = await openCustomer(platform, "other");
  });
  after(() => platform.close());

  const idle = () => platform.service.publishing.idle();

  /** The name is attached but not served: not over HTTP, and without a certificate not over HTTPS. */
  async function waitsForProof(customer: Customer, hostname: string): Promise<void> {
    await idle();
    const waiting = await customer.domain(hostname);
    assert.deepEqual([waiting.status, codesOf(waiting)], ["pending", ["proof_missing"]]);
    assert.equal((await platform.http(hostname, "/")).status, 404);
    await assert.rejects(platform.https(hostname, "/"));
  }

  async function prove(customer: Customer, hostname: string): Promise<void> {
    const { challenge } = await customer.domain(hostname);
    platform.dns.set(challenge!.name, "TXT", ["v=spf1 -all"]);
    await customer.verify(hostname);
    await waitsForProof(customer, hostname);
    platform.dns.set(challenge!.name, "TXT", ["v=spf1 -all", challenge!.value]);
    platform.time.now += minuteMs;
    await idle();
    assert.equal((await platform.https(hostname, "/")).body, customer.page);
  }

  testOnce(
    "rule 2: nothing is served on a name before its owner has created the record, and nothing because of another record",
    async () => {
      assert.equal((await owner.add("www.nothing.test")).status, 201);
      await idle();
      assert.equal((await owner.domain("www.nothing.test")).status, "pending");
      assert.equal((await platform.http("www.nothing.test", "/")).status, 404);
      platform.dns.set("www.nothing.test", "CNAME", ["owner.sites.test"]);
      assert.deepEqual(codesOf((await owner.verify("www.nothing.test")).body), ["wrong_target"]);
      assert.equal((await platform.http("www.nothing.test", "/")).status, 404);
    },
  );

  test("a name that another account holds is refused as taken, and the answer does not say who holds it", async () => {
    await owner.attach("www.held.test");
    const second = await platform.project("owner-second", { "index.html": "second" }, { key: owner.key });
    const refusals = [
      await other.add("www.held.test"),
      await owner.add("WWW.held.test."),
      await platform.addDomain(second, "www.held.test", owner.key),
    ];
    for (const { status, body } of refusals) assert.deepEqual([status, (body as { code?: string }).code], [409, "domain_taken"]);
    assert.doesNotMatch(JSON.stringify(refusals[0]!.body), /owner/);
    const petstore = { domains: { primary: "www.held.test" } };
    const deployment = await platform.deploy(other.project, { "index.html": "prey" }, { key: other.key, petstore });
    assert.deepEqual([deployment.status, /attached to another project/.test(deployment.error ?? "")], ["failed", true]);
    assert.equal((await platform.https("www.held.test", "/")).body, owner.page);
  });

  testOnce(
    "a TXT proof wins a name that another account has added but not verified, so nobody can keep a name without owning it",
    async () => {
      await owner.add("www.squat.test");
      const refused = await other.add("www.squat.test");
      assert.equal(refused.status, 409);
      const [, name = "", value = ""] = /name (\S+) and the value (\w+)/.exec(refused.body.message) ?? [];
      platform.dns.fail(name, "servfail");
      assert.match((await other.add("www.squat.test")).body.message, /could not be looked up.*try again/);
      platform.dns.heal(name);
      platform.dns.set(name, "TXT", ["another token"]);
      assert.equal((await other.add("www.squat.test")).status, 409);
      platform.dns.set(name, "TXT", [value]);
      assert.equal((await other.add("www.squat.test")).status, 201);
      assert.deepEqual(codesOf((await owner.get("www.squat.test")).body), ["proved_elsewhere"]);
    },
  );

  /** Adds the record that a refusal names to those that are in place. */
  async function create(challenge: Domain["challenge"], ...others: Domain["challenge"][]): Promise<void> {
    platform.dns.set(challenge!.name, "TXT", ["v=spf1 -all", ...[challenge, ...others].map((one) => one!.value)]);
  }

  test("a TXT proof wins a verified name, whose holder sees why it was lost, keeps the project and no longer serves the name", async () => {
    const name = "www.bought.test";
    const held = await owner.attach(name);
    assert.equal((await platform.https(name, "/")).body, owner.page);
    const refused = await other.add(name);
    const { challenge } = refused.body;
    assert.deepEqual(
      [refused.status, refused.body.code, challenge?.type, challenge?.name],
      [409, "domain_taken", "TXT", `_petstore-challenge.${name}`],
    );
    assert.equal((await platform.https(name, "/")).body, owner.page, "a refused add changes nothing");
    await create(challenge);
    assert.equal((await other.add(name)).status, 201);
    await assert.rejects(platform.https(name, "/").then(({ body }) => assert.notEqual(body, owner.page)));
    await idle();
    assert.equal((await platform.https(name, "/")).body, other.page);
    assert.equal((await platform.http("owner.sites.test", "/")).body, owner.page);

    const lost = await owner.get(name);
    assert.deepEqual(
      [lost.status, lost.body.status, codesOf(lost.body), lost.body.createdAt],
      [200, "failing", ["proved_elsewhere"], held.createdAt],
    );
    assert.deepEqual([lost.body.certificate.status, lost.body.nextCheckAt], ["none", null]);
    const listed = await platform.service.ask<{ hostname: string }[]>("GET", `/projects/${owner.project}/domains?limit=100`, {
      key: owner.key,
    });
    assert.equal(listed.body.filter(({ hostname }) => hostname === name).length, 1);
    for (const attempt of [owner.verify(name), owner.add(name), owner.change(name, { primary: true })]) {
      const { status, body } = await attempt;
      assert.deepEqual([status, body.code, body.challenge], [409, "domain_taken", lost.body.challenge]);
    }
    assert.equal((await owner.remove(name)).status, 200);
    assert.equal((await owner.get(name)).status, 404);
    assert.equal((await platform.https(name, "/")).body, other.page);
  });

  test("of two accounts with a TXT proof the holder keeps the name; without its record the other takes it back by verifying", async () => {
    const name = "www.both.test";
    await owner.attach(name);
    const { challenge } = (await other.add(name)).body;
    await create(challenge);
    assert.equal((await other.add(name)).status, 201);
    await idle();
    const own = (await owner.domain(name)).challenge!;
    await create(own, challenge);
    for (const attempt of [owner.add(name), owner.verify(name)]) {
      const { status, body } = await attempt;
      assert.deepEqual([status, body.code], [409, "domain_taken"]);
      assert.match(body.message, /delete all other TXT records/);
    }
    assert.equal((await platform.https(name, "/")).body, other.page);
    platform.dns.set(own.name, "TXT", [own.value]);
    assert.equal((await owner.verify(name)).status, 200);
    await idle();
    assert.equal((await platform.https(name, "/")).body, owner.page);
    assert.deepEqual(codesOf((await other.get(name)).body), ["proved_elsewhere"]);
  });

  testOnce("a name that another account asks for is checked at once, but at most once a minute", async () => {
    const name = "www.contested.test";
    await owner.attach(name);
    platform.dns.set(name, "CNAME", ["elsewhere.test"]);
    platform.time.now += hourMs;
    await other.add(name);
    await idle();
    assert.equal((await owner.domain(name)).status, "failing");
    platform.dns.set(name, "CNAME", ["sites.test"]);
    await other.add(name);
    await idle();
    assert.equal((await owner.domain(name)).status, "failing");
    platform.time.now += minuteMs;
    await other.add(name);
    await idle();
    assert.equal((await owner.domain(name)).status, "verified");
  });

  testOnce("a deployment's petstore.json takes a name over under the same rules", async () => {
    const name = "www.configured.test";
    await owner.attach(name);
    const petstore = { domains: { primary: name } };
    const deploy = () => platform.deploy(other.project, { "index.html": other.page }, { key: other.key, petstore });
    assert.match((await deploy()).error ?? "", /_petstore-challenge\.www\.configured\.test/);
    await create((await other.add(name)).body.challenge);
    assert.equal((await deploy()).status, "ready");
    await idle();
    assert.equal((await platform.https(name, "/")).body, other.page);
  });

  test("names that were lost are shown for 30 days", async () => {
    const name = "www.shown.test";
    await owner.add(name);
    await create((await other.add(name)).body.challenge);
    await other.add(name);
    assert.equal((await owner.get(name)).status, 200);
    await deleteOldLost(platform.service.db, platform.time.now + 30 * 24 * hourMs - 1);
    assert.equal((await owner.get(name)).status, 200);
    await deleteOldLost(platform.service.db, platform.time.now + 30 * 24 * hourMs);
    assert.equal((await owner.get(name)).status, 404);
  });

  testOnce("a name whose DNS has changed goes to the account that proves it, with all of its traffic", async () => {
    await owner.attach("www.sold.test");
    platform.dns.set("www.sold.test", "CNAME", ["elsewhere.test"]);
    assert.equal((await owner.verify("www.sold.test")).body.status, "failing");
    const refused = await other.add("www.sold.test");
    const [, name = "", value = ""] = /name (\S+) and the value (\w+)/.exec(refused.body.message) ?? [];
    platform.dns.set(name, "TXT", [value]);
    assert.equal((await other.add("www.sold.test")).status, 201);
    await idle();
    assert.equal((await platform.http("www.sold.test", "/")).status, 404);
    await assert.rejects(platform.https("www.sold.test", "/"), "from the answer on the former owner's page is gone");
    platform.dns.set("www.sold.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    assert.equal((await platform.https("www.sold.test", "/")).body, other.page);
  });

  testOnce("a dangling record gives nobody a name: another account also needs the TXT proof, for sibling names too", async () => {
    await owner.attach("www.left.test");
    await owner.remove("www.left.test");
    for (const hostname of ["www.left.test", "shop.left.test"]) {
      platform.dns.set(hostname, "CNAME", ["sites.test"]);
      const added = await other.add(hostname);
      assert.equal(added.body.challenge?.name, `_petstore-challenge.${hostname}`);
      await waitsForProof(other, hostname);
    }
    await prove(other, "www.left.test");
  });

  testOnce(
    "the names of a deleted project are protected: another account needs the proof, and the owner needs the record alone",
    async () => {
      const hostname = "www.deleted.test";
      const own = await platform.project("deleted", { "index.html": "deleted" }, { key: owner.key });
      platform.dns.set(hostname, "CNAME", ["sites.test"]);
      await platform.addDomain(own, hostname, owner.key);
      await idle();
      assert.equal((await platform.https(hostname, "/")).body, "deleted");
      assert.equal((await platform.service.ask("DELETE", `/projects/${own}`, { key: owner.key })).status, 204);
      await assert.rejects(platform.https(hostname, "/"));
      assert.equal((await other.add(hostname)).status, 201);
      await waitsForProof(other, hostname);
      platform.time.now += 48 * hourMs;
      await idle();
      assert.equal((await owner.attach(hostname)).certificate.status, "issued");
      assert.equal((await platform.https(hostname, "/")).body, owner.page);
    },
  );

  testOnce("a wildcard record gives no name of its domain to another account", async () => {
    await owner.attach("www.wild.test");
    platform.dns.set("*.wild.test", "CNAME", ["sites.test"]);
    assert.equal((await other.add("login.wild.test")).status, 201);
    await waitsForProof(other, "login.wild.test");
  });

  testOnce("another account finds nothing of a project in any operation", async () => {
    await owner.attach("www.private.test");
    const path = `/projects/${owner.project}`;
    const asked: [method: string, path: string, body?: object][] = [
      ["GET", path],
      ["PATCH", path, { name: "Mine" }],
      ["DELETE", path],
      ["GET", `${path}/deployments`],
      ["GET", `${path}/domains`],
      ["POST", `${path}/domains`, { hostname: "www.mine.test" }],
      ["GET", `${path}/domains/www.private.test`],
      ["PATCH", `${path}/domains/www.private.test`, { primary: true }],
      ["POST", `${path}/domains/www.private.test/verify`],
      ["DELETE", `${path}/domains/www.private.test`],
      ["DELETE", `/projects/${other.project}/domains/www.private.test`],
    ];
    for (const [method, where, body] of asked) {
      const { status } = await platform.service.ask(method, where, { key: other.key, ...(body && { body }) });
      assert.equal(status, 404, `${method} ${where}`);
    }
    assert.equal((await platform.https("www.private.test", "/")).body, owner.page);
  });
});
