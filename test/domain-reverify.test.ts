import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Domain } from "../src/publishing/domains/domains.ts";
import type { Interception, ProxiedAnswer, ProxiedRequest } from "./support/acme-proxy.ts";
import { openScene } from "./support/certifying.ts";
import { codesOf } from "./support/customer.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const host = "www.shop.test";

const refusal = (status: number, type: string, detail: string, headers: Record<string, string> = {}): Partial<ProxiedAnswer> => ({
  status,
  headers: { "content-type": "application/problem+json", ...headers },
  body: Buffer.from(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail })),
});
const at = (path: string, answer: Partial<ProxiedAnswer> | "hang up"): Interception => ({
  before: (request: ProxiedRequest) => (request.path.startsWith(path) ? answer : undefined),
});

suite("Re-verify", () => {
  const faults: [what: string, intercept: Interception][] = [
    ["cannot be reached", at("/", "hang up")],
    ["is out of order", at("/order-plz", refusal(500, "serverInternal", "sorry"))],
    ["refuses the order", at("/order-plz", refusal(403, "rejectedIdentifier", "not this name"))],
  ];
  for (const [what, intercept] of faults) {
    test(`pressed repeatedly asks an authority that ${what} at most once a minute, and succeeds in the end`, async (t) => {
      const { platform, project, proxy, add, certificate, idle } = await openScene(t);
      await add("first.shop.test");
      proxy.intercept = intercept;
      await add();
      const press = async () => {
        assert.equal((await platform.service.ask("POST", `/projects/${project}/domains/${host}/verify`)).status, 200);
        await idle();
      };
      const asked = proxy.requests.length;
      const first = await certificate();
      for (let pressed = 0; pressed < 10; pressed++) {
        platform.time.now += 5_000;
        await press();
      }
      assert.equal(proxy.requests.length, asked);
      assert.deepEqual([(await certificate()).problem, (await certificate()).retryAt], [first.problem, first.retryAt]);
      platform.time.now += 10_000;
      await press();
      assert.ok(proxy.requests.length > asked);
      proxy.intercept = {};
      platform.time.now += minuteMs;
      await press();
      assert.equal((await certificate()).status, "issued", "long before the next automatic try");
    });
  }

  test("does not ask before the authority's Retry-After, however often it is pressed, and the order continues automatically after that time", async (t) => {
    const { platform, project, proxy, add, certificate, idle } = await openScene(t);
    proxy.intercept = at("/order-plz", refusal(429, "rateLimited", "too many", { "retry-after": "7200" }));
    await add();
    const until = Date.parse((await certificate()).retryAt!);
    const asked = proxy.requests.length;
    for (let quarter = 1; quarter < 8; quarter++) {
      platform.time.now += hourMs / 4;
      await platform.service.ask("POST", `/projects/${project}/domains/${host}/verify`);
      await idle();
      const held = await certificate();
      assert.match(held.problem ?? "", /limits its requests/);
      assert.equal(Date.parse(held.retryAt!), until);
    }
    assert.equal(proxy.requests.length, asked);
    proxy.intercept = {};
    platform.time.now = until;
    await idle();
    assert.equal((await certificate()).status, "issued");
  });
});

suite("a certificate that failed", () => {
  const issuing = { status: "issuing", issuedAt: null, expiresAt: null, problem: null, retryAt: null };

  test("is `issuing` in the answer of a Re-verify that finds no problem, without the error of the last try", async (t) => {
    const { platform, project, add, certificate, idle } = await openScene(t);
    const verify = () => platform.service.ask<Domain>("POST", `/projects/${project}/domains/${host}/verify`);
    platform.dns.set("shop.test", "CAA", ['0 issue "other.test"']);
    await add();
    const blocked = await certificate();
    assert.equal(blocked.status, "failing");
    const still = (await verify()).body;
    assert.deepEqual([codesOf(still), still.certificate.status], [["caa_blocks"], "failing"]);
    await idle();
    platform.dns.remove("shop.test", "CAA");
    const freed = (await verify()).body;
    assert.deepEqual([codesOf(freed), freed.certificate], [[], issuing]);
    await idle();
    assert.equal((await certificate()).status, "issued");
  });

  test("stays `failing` in that answer until the authority may be asked again, and shows that time", async (t) => {
    const { platform, project, proxy, add, certificate, idle } = await openScene(t);
    const verify = () => platform.service.ask<Domain>("POST", `/projects/${project}/domains/${host}/verify`);
    proxy.intercept = at("/order-plz", refusal(403, "rejectedIdentifier", "not this name"));
    await add();
    const failed = await certificate();
    assert.equal(failed.status, "failing");
    assert.deepEqual((await verify()).body.certificate, failed);
    proxy.intercept = {};
    platform.time.now += minuteMs;
    assert.deepEqual((await verify()).body.certificate, issuing);
    await idle();
    assert.equal((await certificate()).status, "issued");
  });
});

suite("CAA", () => {
  const publish = (caaIdentities: string[]): Interception => ({
    after: ({ path }, answer) => {
      if (path !== "/dir") return answer;
      const directory = JSON.parse(answer.body.toString()) as { meta: object };
      return { ...answer, body: Buffer.from(JSON.stringify({ ...directory, meta: { ...directory.meta, caaIdentities } })) };
    },
  });

  test("is judged by the names in the authority's directory, unless a setting replaces them", async (t) => {
    const { platform, project, add, certificate, orders } = await openScene(t, {
      env: { ACME_CAA_IDENTITIES: "" },
      intercept: publish(["ca.example", "ca.example.net"]),
    });
    platform.dns.set("shop.test", "CAA", ['0 issue "ca.test"']);
    await add();
    const blocked = await platform.domain(project, host);
    assert.deepEqual([codesOf(blocked), blocked.certificate.status, orders()], [["caa_blocks"], "failing", 0]);
    assert.match(blocked.problems[0]!.fix, /ca\.example/);
    platform.dns.set("shop.test", "CAA", ['0 issue "ca.test"', '0 issue "ca.example.net; validationmethods=http-01"']);
    await platform.service.ask("POST", `/projects/${project}/domains/${host}/verify`);
    await platform.service.publishing.idle();
    assert.equal((await certificate()).status, "issued");
  });

  for (const published of [undefined, []]) {
    test(`is left to an authority that publishes ${published ? "an empty list of names" : "no names"}, and its refusal is shown unchanged`, async (t) => {
      const { platform, project, proxy, add, certificate, idle } = await openScene(t, {
        env: { ACME_CAA_IDENTITIES: "" },
        intercept: published ? publish(published) : {},
      });
      platform.dns.set("shop.test", "CAA", ['0 issue "ca.test"']);
      proxy.intercept = at("/finalize-order/", refusal(403, "caa", "CAA record for shop.test prevents issuance"));
      await add();
      const refused = await platform.domain(project, host);
      assert.match(refused.certificate.problem ?? "", /CAA/);
      platform.time.now += 30 * minuteMs;
      await idle();
      const late = await platform.domain(project, host);
      assert.match(late.attention?.message ?? "", /more than 30 minutes late[^]*CAA/);
      proxy.intercept = {};
      platform.time.now = Date.parse(late.certificate.retryAt!);
      await idle();
      assert.equal((await certificate()).status, "issued");
    });
  }
});
