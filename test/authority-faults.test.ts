import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Interception, ProxiedAnswer } from "./support/acme-proxy.ts";
import { openScene } from "./support/certifying.ts";
import { someOf } from "./support/fault-runs.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const html = { "content-type": "text/html" };
const json = { "content-type": "application/json" };

/** Answers that are not ACME, which an authority or a proxy in front of it may send, and the problem that the domain then shows. */
const nonsense: [what: string, answer: Partial<ProxiedAnswer>, problem: RegExp][] = [
  [
    "a page of HTML with 200",
    { headers: html, body: Buffer.from("<h1>Maintenance</h1>") },
    /not JSON|did not send the URL|no certificate|without a certificate/,
  ],
  ["a page of HTML with 403", { status: 403, headers: html, body: Buffer.from("<h1>Blocked</h1>") }, /refuses .*HTTP 403/],
  ["a page of HTML with 502", { status: 502, headers: html, body: Buffer.from("<h1>Bad gateway</h1>") }, /internal error .*HTTP 502/],
  [
    "JSON that breaks off",
    { headers: json, body: Buffer.from('{"status": "rea') },
    /not JSON|did not send the URL|no certificate|without a certificate/,
  ],
  [
    "JSON that is another thing",
    { headers: json, body: Buffer.from('["valid"]') },
    /sent an invalid|did not send the URL|no certificate|without a certificate/,
  ],
  ["nothing at all", { headers: json }, /not JSON|did not send the URL|no certificate|without a certificate/],
  ["a body of a megabyte", { headers: json, body: Buffer.alloc(1_048_576, " ") }, /more than 262144 bytes/],
  ["a redirect", { status: 302, headers: { location: "https://elsewhere.test/" } }, /answered 302/],
];

/** The requests of an order in which an authority can go wrong. */
const steps = ["/order-plz", "/authZ/", "/chalZ/", "/finalize-order/", "/my-order/", "/certZ/"];

suite("an authority that sends invalid answers", () => {
  for (const step of steps) {
    const answers = someOf(nonsense, 4);
    test(`at ${step} leaves a readable problem on the domain, is asked again after a minute, and issues one certificate in the end`, async (t) => {
      const { platform, proxy, certificate, add, idle, orders } = await openScene(t);
      let made = 0;
      for (const [index, [what, answer, problem]] of answers.entries()) {
        const hostname = `www${index}.n${index}.test`;
        proxy.intercept = { before: ({ path }) => (path.startsWith(step) ? answer : undefined) };
        await add(hostname);
        const failed = await certificate(hostname);
        assert.equal(failed.status, "failing", `${what}: ${JSON.stringify(failed)}`);
        assert.match(failed.problem ?? "", problem, what);
        assert.doesNotMatch(failed.problem ?? "", /[<>]/, "what it sent is not repeated");
        assert.equal(Date.parse(failed.retryAt!) - platform.time.now, minuteMs, what);
        const asked = proxy.requests.length;
        await idle();
        assert.equal(proxy.requests.length, asked, "not asked again before its time");
        proxy.intercept = {};
        platform.time.now += minuteMs;
        await idle();
        const cured = await certificate(hostname);
        assert.deepEqual([cured.status, cured.problem, cured.retryAt], ["issued", null, null], what);
        assert.equal(orders(), ++made, `${what}: one order`);
      }
    });
  }

  const directories = someOf(nonsense, 4);
  test("as its directory, from the start, delays nothing else, and the directory is read again at the next try", async (t) => {
    for (const [what, answer, problem] of directories) {
      await t.test(what, async (one) => {
        const { platform, proxy, certificate, add, idle } = await openScene(one, { intercept: { before: () => answer } });
        await add();
        assert.equal((await platform.http("www.shop.test", "/")).body, "<h1>Rex</h1>");
        const failed = await certificate();
        assert.equal(failed.status, "failing");
        assert.match(failed.problem ?? "", new RegExp(`${problem.source}|directory`), what);
        proxy.intercept = {};
        platform.time.now += minuteMs;
        await idle();
        assert.equal((await certificate()).status, "issued");
      });
    }
  });
});

suite("an authority that keeps failing", () => {
  const faults: [what: string, intercept: Interception][] = [
    ["is down", { before: () => "hang up" }],
    ["answers 503", { before: () => ({ status: 503, headers: html, body: Buffer.from("busy") }) }],
    ["loses every finalize reply", { after: ({ path }, answer) => (/^\/(finalize|my)-order\//.test(path) ? "hang up" : answer) }],
  ];
  for (const [what, intercept] of faults) {
    test(`is asked after 1, 10 and 100 minutes, then daily, and never in between: it ${what}`, async (t) => {
      const { platform, proxy, certificate, add, idle, orders } = await openScene(t);
      proxy.intercept = intercept;
      await add();
      for (const pause of [minuteMs, 10 * minuteMs, 100 * minuteMs, dayMs, dayMs]) {
        const waiting = await certificate();
        assert.deepEqual([waiting.status, Date.parse(waiting.retryAt!) - platform.time.now], ["failing", pause]);
        const asked = proxy.requests.length;
        platform.time.now += pause - 1;
        await idle();
        assert.equal(proxy.requests.length, asked);
        platform.time.now += 1;
        await idle();
        assert.ok(proxy.requests.length > asked);
      }
      proxy.intercept = {};
      platform.time.now += dayMs;
      await idle();
      assert.equal((await certificate()).status, "issued");
      assert.equal(orders(), 1);
    });
  }

  test("that has lost its accounts gets a new account, without a restart", async (t) => {
    const { platform, proxy, certificate, add, idle } = await openScene(t);
    await add("first.shop.test");
    const body = Buffer.from(JSON.stringify({ type: "urn:ietf:params:acme:error:accountDoesNotExist", detail: "unknown account" }));
    let known = false;
    proxy.intercept = {
      before: ({ path, payload }) => {
        if (path === "/sign-me-up" && payload !== null) known = true;
        return known || path === "/dir" || path === "/nonce-plz"
          ? undefined
          : { status: 400, headers: { "content-type": "application/problem+json" }, body };
      },
    };
    await add("second.shop.test");
    assert.match((await certificate("second.shop.test")).problem ?? "", /unknown account/);
    platform.time.now += minuteMs;
    await idle();
    assert.equal((await certificate("second.shop.test")).status, "issued");
  });
});
