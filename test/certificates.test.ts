import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { startAcmeProxy, type AcmeProxy, type ProxiedRequest } from "./support/acme-proxy.ts";
import { openScene, openTls, ordersAt } from "./support/certifying.ts";
import { someOf } from "./support/fault-runs.ts";
import { openPlatform } from "./support/platform.ts";
import { openRaw } from "./support/raw.ts";
import { engine, testOnce } from "./support/service.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const ask = "GET / HTTP/1.1\r\nHost: www.shop.test\r\n\r\n";

suite("certificates", () => {
  testOnce(
    "rule 11: removal stops serving at once, also on an open keep-alive connection and to a client that tries to resume its TLS session",
    async (t) => {
      const { platform, project, add } = await openScene(t);
      await add();
      const first = await openTls(platform, "www.shop.test");
      const session = first.getSession()!;
      first.write(ask);
      const [answer] = (await once(first, "data")) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1\.1 200 [^]*Connection: keep-alive/i);
      const plain = await openRaw(`http://127.0.0.1:${platform.service.publishing.addresses()!.http.port}`);
      await plain.write(ask);
      assert.equal((await plain.answer()).status, 308);

      const closed = Promise.all([once(first.resume(), "close"), once(plain.socket, "close")]);
      assert.equal((await platform.service.ask("DELETE", `/projects/${project}/domains/www.shop.test`)).status, 200);
      await closed;
      const again = await openTls(platform, "www.shop.test", { session }).catch(() => undefined);
      let served = 0;
      again?.on("data", (bytes: Buffer) => (served += bytes.length)).write(ask);
      if (again) await once(again, "close");
      assert.equal(served, 0, "whatever became of the handshake, nothing is served on it");
      await assert.rejects(platform.https("www.shop.test", "/"));
      assert.equal((await platform.http("www.shop.test", "/")).status, 404);
    },
  );

  testOnce(
    "when a plan drops below Pro, serving stops before the answer, even on open connections; when Pro returns, no new certificate is needed",
    async (t) => {
      const { platform, add, orders } = await openScene(t);
      await add();
      const open = await openTls(platform, "www.shop.test");
      const cut = once(open.resume(), "close");
      const { accountId } = platform.service;
      await platform.service.administration["accounts.setPlan"]({ id: accountId, plan: "free" });
      await cut;
      await assert.rejects(platform.https("www.shop.test", "/"));
      assert.equal((await platform.http("www.shop.test", "/")).status, 404);
      assert.equal((await platform.http("rex.sites.test", "/")).status, 200, "the platform's own name is still served");
      const made = orders();
      await platform.service.administration["accounts.setPlan"]({ id: accountId, plan: "enterprise", perMinute: 1e6, perDay: 1e6 });
      assert.equal((await platform.https("www.shop.test", "/")).status, 200);
      assert.equal(orders(), made);
    },
  );

  testOnce(
    "a name of a plan below Pro is not renewed; if its certificate has expired when the plan is back, one is ordered automatically",
    async (t) => {
      const { platform, proxy, add, certificate, idle, orders } = await openScene(t);
      await add();
      const { accountId, administration } = platform.service;
      await administration["accounts.setPlan"]({ id: accountId, plan: "free" });
      const asked = proxy.requests.length;
      platform.time.now = Date.parse((await certificate()).expiresAt!) + dayMs;
      await idle();
      assert.equal(proxy.requests.length, asked);
      await administration["accounts.setPlan"]({ id: accountId, plan: "enterprise", perMinute: 1e6, perDay: 1e6 });
      await idle();
      assert.equal(orders(), 2);
    },
  );

  testOnce("a name that verifies while its plan is below Pro gets its certificate as soon as the plan is back", async (t) => {
    const { platform, project, certificate, idle, orders } = await openScene(t);
    await platform.addDomain(project, "www.shop.test");
    await idle();
    const { accountId, administration } = platform.service;
    await administration["accounts.setPlan"]({ id: accountId, plan: "free" });
    platform.dns.set("www.shop.test", "CNAME", ["sites.test"]);
    platform.time.now += minuteMs;
    await idle();
    assert.deepEqual([(await platform.domain(project, "www.shop.test")).status, orders()], ["verified", 0]);
    await administration["accounts.setPlan"]({ id: accountId, plan: "enterprise", perMinute: 1e6, perDay: 1e6 });
    await idle();
    assert.equal((await certificate()).status, "issued");
  });

  test("a certificate is renewed when a third of its lifetime is left, and the name is served all the time", async (t) => {
    const { platform, add, certificate, idle, orders } = await openScene(t);
    await add();
    const before = await certificate();
    const serial = async () => {
      const socket = await openTls(platform, "www.shop.test");
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const firstSerial = await serial();
    const [issued, expires] = [Date.parse(before.issuedAt!), Date.parse(before.expiresAt!)];
    platform.time.now = expires - Math.ceil((expires - issued) / 3) - dayMs;
    await idle();
    assert.equal(orders(), 1);
    assert.equal(await serial(), firstSerial);
    platform.time.now += 2 * dayMs;
    await idle();
    assert.equal(orders(), 2);
    assert.notEqual(await serial(), firstSerial);
    assert.equal((await certificate()).status, "issued");
  });

  testOnce("a removed name is never renewed", async (t) => {
    const { platform, project, add, certificate, idle, proxy } = await openScene(t);
    await add();
    const { expiresAt } = await certificate();
    await platform.service.ask("DELETE", `/projects/${project}/domains/www.shop.test`);
    const asked = proxy.requests.length;
    platform.time.now = Date.parse(expiresAt!) - dayMs;
    await idle();
    assert.equal(proxy.requests.length, asked);
  });

  testOnce("an authority that is down is shown as the problem with the time of the next try, which is automatic", async (t) => {
    const { platform, proxy, add, certificate, idle } = await openScene(t);
    proxy.intercept = { before: () => "hang up" };
    await add();
    const waiting = await certificate();
    assert.equal(waiting.status, "failing");
    assert.match(waiting.problem ?? "", /cannot be reached/);
    assert.equal(Date.parse(waiting.retryAt!) - platform.time.now, minuteMs);
    proxy.intercept = {};
    platform.time.now += minuteMs - 1;
    await idle();
    assert.equal((await certificate()).status, "failing");
    platform.time.now += 1;
    await idle();
    assert.deepEqual([(await certificate()).status, (await certificate()).problem], ["issued", null]);
  });

  testOnce("a 429 delays the next try until its Retry-After", async (t) => {
    const { platform, proxy, add, certificate, idle, orders } = await openScene(t);
    const body = Buffer.from(JSON.stringify({ type: "urn:ietf:params:acme:error:rateLimited", detail: "too many" }));
    proxy.intercept = {
      before: ({ path }) =>
        path === "/order-plz"
          ? { status: 429, headers: { "retry-after": "7200", "content-type": "application/problem+json" }, body }
          : undefined,
    };
    await add();
    const held = await certificate();
    assert.match(held.problem ?? "", /limits its requests/);
    assert.equal(Math.round((Date.parse(held.retryAt!) - platform.time.now) / 1_000), 7_200);
    proxy.intercept = {};
    const made = orders();
    platform.time.now += 7_199_000;
    await idle();
    assert.equal(orders(), made);
    platform.time.now += 1_000;
    await idle();
    assert.equal((await certificate()).status, "issued");
  });

  testOnce(
    "the service counts the authority's limits: an order over the budget is not placed, and the time of the next try is shown",
    async (t) => {
      const { platform, add, certificate, idle, orders } = await openScene(t, { env: { ACME_BUDGET: "domain=2/1h" } });
      for (const name of ["a", "b", "c"]) await add(`${name}.budget.test`);
      assert.equal(orders(), 2);
      const held = await certificate("c.budget.test");
      assert.match(held.problem ?? "", /limit/);
      platform.time.now = Date.parse(held.retryAt!);
      await idle();
      assert.equal((await certificate("c.budget.test")).status, "issued");
    },
  );

  testOnce("no order is placed for a name whose DNS has become wrong since it verified", async (t) => {
    const { platform, proxy, certificate, idle, add, orders } = await openScene(t);
    proxy.intercept = { before: ({ path }) => (path === "/order-plz" ? "hang up" : undefined) };
    await add();
    proxy.intercept = {};
    platform.dns.set("www.shop.test", "CNAME", ["elsewhere.test"]);
    const made = orders();
    platform.time.now += 10 * minuteMs;
    await idle();
    assert.equal(orders(), made);
    assert.match((await certificate()).problem ?? "", /elsewhere\.test/);
  });
});

/** The authority's view of an order's steps. After each, the reply is lost, and the service is killed and started again. */
const steps: [name: string, matches: (request: ProxiedRequest) => boolean][] = [
  ["the account was made", ({ path }) => path === "/sign-me-up"],
  ["the challenge was answered", ({ path }) => path.startsWith("/chalZ/")],
  ["the order was finalized", ({ path }) => path.startsWith("/finalize-order/")],
  ["the certificate was fetched", ({ path }) => path.startsWith("/certZ/")],
];

suite("a process that is killed in the middle of an order", { concurrency: 2 }, () => {
  for (const [name, matches] of someOf(steps, engine === "sqlite" ? 2 : 4)) {
    test(`continues after its restart, without a second order, once ${name}`, async (t) => {
      const dataDir = await mkdtemp(join(tmpdir(), "petstore-order-"));
      let lost = 0;
      let proxy: AcmeProxy | undefined;
      const platform = await openPlatform({
        dataDir,
        directoryUrl: async (pebble) => {
          proxy = await startAcmeProxy(pebble);
          t.after(() => proxy?.close());
          proxy.intercept = { after: (seen, answer) => ((matches(seen) && lost++ === 0) || lost > 0 ? "hang up" : answer) };
          return proxy.directoryUrl;
        },
      });
      t.after(async () => {
        await platform.close();
        await rm(dataDir, { recursive: true, force: true });
      });
      const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });
      platform.dns.set("www.shop.test", "CNAME", ["sites.test"]);
      await platform.addDomain(project, "www.shop.test");
      await platform.service.publishing.idle();
      assert.ok(lost > 0);
      proxy!.intercept = {};
      platform.time.now += minuteMs;
      await platform.restart();
      await platform.service.publishing.idle();
      const { certificate } = await platform.domain(project, "www.shop.test");
      assert.equal(certificate.status, "issued", JSON.stringify(certificate));
      assert.equal((await platform.https("www.shop.test", "/")).body, "<h1>Rex</h1>");
      assert.equal(ordersAt(proxy!), 1);
    });
  }
});

const made = engine === "sqlite" ? "made at the first start, readable by its owner alone" : "the one that is set";

test(`the secrets key is ${made}, and a restart serves what was issued before`, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "petstore-secrets-"));
  const platform = await openPlatform({ dataDir });
  t.after(async () => {
    await platform.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const mode = (await stat(join(dataDir, "secrets.key")).catch(() => undefined))?.mode;
  assert.equal(mode && mode & 0o777, engine === "sqlite" ? 0o600 : undefined);
  const project = await platform.project("rex", { "index.html": "<h1>Rex</h1>" });
  platform.dns.set("www.shop.test", "CNAME", ["sites.test"]);
  await platform.addDomain(project, "www.shop.test");
  await platform.service.publishing.idle();
  await platform.restart();
  assert.equal((await platform.https("www.shop.test", "/")).body, "<h1>Rex</h1>");
});
