import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AcmeProxy, ProxiedAnswer } from "./support/acme-proxy.ts";
import { openScene, openTls } from "./support/certifying.ts";
import type { Platform } from "./support/platform.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Makes the authority offer renewal information (RFC 9773): `answer` returns its answer to each request. */
function offerRenewalInfo(proxy: AcmeProxy, answer: () => Partial<ProxiedAnswer>): void {
  proxy.intercept = {
    before: ({ path }) => (path.startsWith("/renewal-info/") ? answer() : undefined),
    after: ({ path }, directory) => {
      if (path !== "/dir") return directory;
      const offered = JSON.parse(directory.body.toString()) as object;
      const body = { ...offered, renewalInfo: `${new URL(proxy.directoryUrl).origin}/renewal-info` };
      return { ...directory, body: Buffer.from(JSON.stringify(body)) };
    },
  };
}

const windowOf = (start: number, end: number, retryAfter = 6 * hourMs): Partial<ProxiedAnswer> => ({
  headers: { "content-type": "application/json", "retry-after": String(retryAfter / 1_000) },
  body: Buffer.from(JSON.stringify({ suggestedWindow: { start: new Date(start).toISOString(), end: new Date(end).toISOString() } })),
});

async function serialOf(platform: Platform): Promise<string> {
  const socket = await openTls(platform, "www.shop.test", { maxVersion: "TLSv1.3" });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** The orders that name the certificate that they replace. */
const replacing = ({ requests }: AcmeProxy) =>
  requests.filter(
    ({ path, status, payload }) => path === "/order-plz" && status === 201 && typeof (payload as Replacing).replaces === "string",
  );
type Replacing = { replaces?: string };

suite("renewal", () => {
  test("comes in the authority's window, for example when it revokes certificates, and names the certificate that is replaced", async (t) => {
    let window: () => Partial<ProxiedAnswer>;
    const { platform, proxy, add, idle, orders } = await openScene(t, { intercept: { before: () => "hang up" } });
    window = () => windowOf(platform.time.now + 50 * dayMs, platform.time.now + 51 * dayMs);
    offerRenewalInfo(proxy, () => window());
    await add();
    const serial = await serialOf(platform);
    platform.time.now += hourMs;
    await idle();
    assert.equal(orders(), 1);
    const asked = () => proxy.requests.filter(({ path }) => path.startsWith("/renewal-info/")).length;
    assert.equal(asked(), 1);
    platform.time.now += 6 * hourMs - 1_000;
    await idle();
    assert.equal(asked(), 1, "not asked before its Retry-After");
    window = () => windowOf(platform.time.now - dayMs, platform.time.now - hourMs);
    platform.time.now += 1_000;
    await idle();
    assert.deepEqual([asked(), orders(), replacing(proxy).length], [2, 2, 1]);
    assert.notEqual(await serialOf(platform), serial);
  });

  test("an authority that cannot say when to renew is asked again after six hours, not when a third of the lifetime is left", async (t) => {
    const answers = [{ status: 503 }, { headers: { "content-type": "text/html" }, body: Buffer.from("<p>") }];
    const { platform, proxy, add, idle, orders, certificate } = await openScene(t, { intercept: { before: () => "hang up" } });
    offerRenewalInfo(proxy, () => answers.shift() ?? windowOf(platform.time.now - dayMs, platform.time.now - hourMs));
    await add();
    platform.time.now += hourMs;
    await idle();
    for (const left of [1, 0]) {
      assert.equal(answers.length, left);
      assert.deepEqual([orders(), (await certificate()).status, (await certificate()).problem], [1, "issued", null]);
      platform.time.now += 6 * hourMs;
      await idle();
    }
    assert.equal(orders(), 2);
  });

  test("drops no handshake: a client that keeps connecting gets the old certificate, then the new one", async (t) => {
    const { platform, add, idle, certificate } = await openScene(t);
    await add();
    const { issuedAt, expiresAt } = await certificate();
    platform.time.now = Math.floor(Date.parse(expiresAt!) - (Date.parse(expiresAt!) - Date.parse(issuedAt!)) / 4);
    const seen = new Set([await serialOf(platform)]);
    const over = new AbortController();
    const connecting = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        seen.add(await serialOf(platform));
        assert.equal((await platform.https("www.shop.test", "/")).status, 200);
      }
    });
    await idle();
    over.abort();
    await Promise.all(connecting);
    seen.add(await serialOf(platform));
    assert.equal(seen.size, 2);
  });

  test("is only for a verified name: one whose DNS has changed is served and checked hourly, and renewed once its record is back", async (t) => {
    const { platform, project, add, idle, certificate, orders } = await openScene(t);
    await add();
    platform.dns.set("www.shop.test", "CNAME", ["elsewhere.test"]);
    platform.time.now += dayMs;
    await idle();
    const failing = await platform.domain(project, "www.shop.test");
    assert.deepEqual([failing.status, failing.certificate.status], ["failing", "issued"]);
    assert.equal(Date.parse(failing.nextCheckAt!) - platform.time.now, hourMs);
    assert.equal((await platform.https("www.shop.test", "/")).body, "<h1>Rex</h1>");
    const { issuedAt, expiresAt } = failing.certificate;
    platform.time.now = Math.floor(Date.parse(expiresAt!) - (Date.parse(expiresAt!) - Date.parse(issuedAt!)) / 4);
    await idle();
    assert.equal(orders(), 1);
    platform.dns.set("www.shop.test", "CNAME", ["sites.test"]);
    platform.time.now += hourMs;
    await idle();
    assert.deepEqual([(await platform.domain(project, "www.shop.test")).status, orders()], ["verified", 2]);
    assert.ok(Date.parse((await certificate()).issuedAt!) > Date.parse(issuedAt!));
  });

  test("that fails leaves the certificate in use, says why, and starts with the shortest pause again at the next renewal", async (t) => {
    const { platform, proxy, add, idle, certificate } = await openScene(t);
    await add();
    const renewalOf = async () => {
      const { issuedAt, expiresAt } = await certificate();
      return Math.floor(Date.parse(expiresAt!) - (Date.parse(expiresAt!) - Date.parse(issuedAt!)) / 4);
    };
    for (let round = 0; round < 2; round++) {
      platform.time.now = await renewalOf();
      proxy.intercept = { before: ({ path }) => (path === "/order-plz" ? "hang up" : undefined) };
      await idle();
      const held = await certificate();
      assert.equal(held.status, "issued");
      assert.match(held.problem ?? "", /cannot be reached/);
      assert.equal(Date.parse(held.retryAt!) - platform.time.now, minuteMs);
      assert.equal((await platform.https("www.shop.test", "/")).status, 200);
      proxy.intercept = {};
      platform.time.now += minuteMs;
      await idle();
      assert.deepEqual([(await certificate()).problem, (await certificate()).retryAt], [null, null]);
    }
  });
});

suite("an authority with special requirements", () => {
  const hmac = Buffer.alloc(32, 7).toString("base64url");

  test("an external account binding opens the account; without one the domain says which settings are missing", async (t) => {
    const pebble = { externalAccounts: { "kid-1": hmac } };
    const bound = await openScene(t, { pebble, env: { ACME_EAB_KID: "kid-1", ACME_EAB_HMAC: hmac } });
    await bound.add();
    assert.equal((await bound.certificate()).status, "issued");
    const unbound = await openScene(t, { pebble });
    await unbound.add();
    assert.match((await unbound.certificate()).problem ?? "", /ACME_EAB_KID, ACME_EAB_HMAC/);
  });

  for (const type of ["http-01", "tls-alpn-01"]) {
    test(`that offers only ${type} issues, and renews while the certificate is served`, async (t) => {
      const { platform, proxy, add, certificate, idle, orders } = await openScene(t);
      proxy.intercept = {
        after: ({ path }, answer) => {
          if (!path.startsWith("/authZ/") || answer.status !== 200) return answer;
          const body = JSON.parse(answer.body.toString()) as { challenges: { type: string }[] };
          const challenges = body.challenges.filter((challenge) => challenge.type === type);
          return { ...answer, body: Buffer.from(JSON.stringify({ ...body, challenges })) };
        },
      };
      await add();
      const { status, expiresAt } = await certificate();
      assert.equal(status, "issued");
      platform.time.now = Date.parse(expiresAt!) - dayMs;
      await idle();
      assert.equal(orders(), 2);
      assert.equal((await platform.https("www.shop.test", "/")).status, 200);
    });
  }
});
