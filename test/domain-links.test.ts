import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { newMember } from "./support/dashboard.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { testOnce } from "./support/service.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

suite("a link to the records of a domain", () => {
  let platform: Platform;
  let project: number;
  let cookie: string;
  before(async () => {
    platform = await openPlatform();
    project = await platform.project("linked", { "index.html": "x" });
    const owner = { account: platform.service.accountId, email: "owner@linked.test", role: "owner", password: "a good long password" };
    ({ cookie } = await newMember(platform.service, owner));
  });
  after(() => platform.close());

  const call = async (method: string, hostname: string, headers: Record<string, string> = {}) => {
    const { address } = platform.service;
    const path = `${address}/dashboard/v1/projects/${project}/domains/${hostname}/link`;
    return fetch(path, { method, headers: { cookie, origin: address, ...headers } });
  };
  const make = async (hostname: string): Promise<string> => {
    const answer = await call("POST", hostname);
    assert.equal(answer.status, 201);
    const { url, expiresAt } = (await answer.json()) as { url: string; expiresAt: string };
    assert.match(url, /\/dns-records\/[\w-]{43}$/);
    assert.equal(Date.parse(expiresAt), platform.time.now + 14 * dayMs);
    return new URL(url).pathname;
  };
  const open = async (path: string) => {
    const answer = await fetch(platform.service.address + path);
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  const idle = () => platform.service.publishing.idle();

  test("it shows the records and their state without a sign-in, until they are right", async () => {
    await platform.addDomain(project, "www.pass.test");
    await idle();
    const path = await make("www.pass.test");
    const first = await open(path);
    assert.equal(first.status, 200);
    for (const text of ["www.pass.test", "CNAME", "sites.test", "3600", "Not found yet."]) assert.ok(first.body.includes(text), text);
    platform.dns.set("www.pass.test", "A", ["192.0.2.9"]);
    platform.time.now += minuteMs;
    await idle();
    assert.ok((await open(path)).body.includes("192.0.2.9"), "what was found instead");
    platform.dns.remove("www.pass.test");
    platform.dns.set("www.pass.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    const right = await open(path);
    assert.ok(right.body.includes("The record is right.") && !right.body.includes("192.0.2.9"));
  });

  testOnce("it shows nothing else of the shop, and is neither indexed, cached, framed nor passed on as a referrer", async () => {
    await platform.addDomain(project, "www.quiet.test");
    const { headers, body } = await open(await make("www.quiet.test"));
    for (const text of ["owner@linked.test", "linked", "My shop", `/projects/`, platform.service.key])
      assert.ok(!body.includes(text), text);
    assert.match(headers.get("x-robots-tag") ?? "", /noindex/);
    assert.deepEqual(
      ["referrer-policy", "cache-control", "x-frame-options", "x-content-type-options", "set-cookie"].map((name) => headers.get(name)),
      ["no-referrer", "no-store", "DENY", "nosniff", null],
    );
    assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/);
    assert.ok(headers.has("x-ratelimit-limit"));
  });

  testOnce("unknown and hostile tokens get the same 404, without a reason", async () => {
    const ended = (await open(`/dns-records/${"A".repeat(43)}`)).body;
    for (const token of ["x", "%00", "a".repeat(44), `${"A".repeat(42)}%27`, "A".repeat(4_000), "..%2f..", "%F0%9F%98%80".repeat(40)]) {
      const { status, body, headers } = await open(`/dns-records/${token}`);
      assert.deepEqual([status, body, headers.get("referrer-policy")], [404, ended, "no-referrer"], token.slice(0, 50));
    }
  });

  test("while somebody has the page open, the name is checked within a minute, however long ago it was added", async () => {
    await platform.addDomain(project, "www.slow.test");
    await idle();
    platform.time.now += 7 * 60 * minuteMs;
    await idle();
    const path = await make("www.slow.test");
    assert.ok(Date.parse((await platform.domain(project, "www.slow.test")).nextCheckAt!) > platform.time.now + 10 * minuteMs);
    await open(path);
    platform.dns.set("www.slow.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs + 1_000;
    await idle();
    assert.ok((await open(path)).body.includes("The record is right."));
  });

  testOnce("only members of a shop can make a link, and only for the shop's own names", async () => {
    await platform.addDomain(project, "www.mine.test");
    const { address } = platform.service;
    assert.equal((await call("POST", "www.mine.test", { cookie: "" })).status, 401);
    assert.equal((await call("POST", "www.mine.test", { origin: "https://evil.example" })).status, 403);
    assert.equal((await call("POST", "www.nobody.test")).status, 404);
    const other = await platform.service.newAccount("pro");
    const stranger = { account: other.id, email: "owner@other.test", role: "owner", password: "a good long password" };
    const theirs = (await newMember(platform.service, stranger)).cookie;
    for (const method of ["POST", "GET", "DELETE"]) assert.equal((await call(method, "www.mine.test", { cookie: theirs })).status, 404);
    const byKey = await fetch(`${address}/v1/projects/${project}/domains/www.mine.test/link`, {
      method: "POST",
      headers: { "x-api-key": platform.service.key },
    });
    assert.equal(byKey.status, 404, "it is not part of the API");
  });

  test("a new link ends the earlier one; ending it, removing the name and 14 days end it too", async () => {
    await platform.addDomain(project, "www.ends.test");
    const first = await make("www.ends.test");
    const second = await make("www.ends.test");
    assert.deepEqual([(await open(first)).status, (await open(second)).status], [404, 200]);
    assert.ok(((await (await call("GET", "www.ends.test")).json()) as { expiresAt: string | null }).expiresAt);
    assert.equal((await call("DELETE", "www.ends.test")).status, 204);
    assert.deepEqual([(await open(second)).status, await (await call("GET", "www.ends.test")).json()], [404, { expiresAt: null }]);
    assert.equal((await call("DELETE", "www.ends.test")).status, 204);
    const third = await make("www.ends.test");
    await platform.service.ask("DELETE", `/projects/${project}/domains/www.ends.test`);
    assert.equal((await open(third)).status, 404);
    platform.dns.set("www.late.test", "CNAME", ["sites.test"]);
    await platform.addDomain(project, "www.late.test");
    await idle();
    const last = await make("www.late.test");
    platform.time.now += 14 * dayMs - 1_000;
    assert.equal((await open(last)).status, 200);
    platform.time.now += 2_000;
    assert.equal((await open(last)).status, 404);
  });

  testOnce("opening links counts on the visitor's address, and is refused beyond its window", async () => {
    let status = 0;
    for (let visits = 0; visits < 2_000 && status !== 429; visits++) ({ status } = await open(`/dns-records/${"B".repeat(43)}`));
    assert.equal(status, 429);
  });
});
