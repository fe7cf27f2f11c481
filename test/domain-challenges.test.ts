import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AcmeProxy } from "./support/acme-proxy.ts";
import { openScene, openTls } from "./support/certifying.ts";
import { freePort, freePorts } from "./support/ports.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const host = "www.shop.test";

/** The types of the challenges that the authority was asked to check, in order. */
function noteChallenges(proxy: AcmeProxy): string[] {
  const asked: string[] = [];
  const kinds = new Map<string, string>();
  proxy.intercept = {
    after: ({ path }, answer) => {
      if (answer.status !== 200) return answer;
      const body = path.startsWith("/authZ/") || path.startsWith("/chalZ/") ? (JSON.parse(answer.body.toString()) as Seen) : undefined;
      for (const { url, type } of body?.challenges ?? []) kinds.set(new URL(url).pathname, type);
      if (path.startsWith("/chalZ/")) asked.push(kinds.get(path) ?? "");
      return answer;
    },
  };
  return asked;
}
type Seen = { challenges?: { type: string; url: string }[] };

/** Closed ports, which look to the authority like a firewall. */

suite("the challenges of the authority", () => {
  test("if port 80 is closed, TLS-ALPN-01 succeeds through the same edge a minute later, and renews while the certificate is served", async (t) => {
    const { platform, proxy, add, certificate, idle } = await openScene(t, { pebble: { httpPort: await freePort() } });
    const asked = noteChallenges(proxy);
    await add();
    const failed = await certificate();
    assert.equal(failed.status, "failing");
    assert.match(failed.problem ?? "", /port 80|connect/i);
    assert.equal(Date.parse(failed.retryAt!) - platform.time.now, minuteMs);
    assert.equal((await platform.http(host, "/")).body, "<h1>Rex</h1>", "verified, and so served over HTTP meanwhile");
    platform.time.now += minuteMs;
    await idle();
    const { status, issuedAt, expiresAt } = await certificate();
    assert.equal(status, "issued");
    platform.time.now = Date.parse(expiresAt!) - dayMs;
    const open = await openTls(platform, host);
    for (let tries = 0; tries < 2; tries++) {
      await idle();
      platform.time.now += minuteMs;
    }
    assert.ok(Date.parse((await certificate()).issuedAt!) > Date.parse(issuedAt!));
    assert.equal(open.destroyed, false, "no open connection is cut by a renewal");
    open.destroy();
    assert.deepEqual(new Set(asked), new Set(["http-01", "tls-alpn-01"]));
  });

  test("if the HTTPS port is closed, HTTP-01 alone issues", async (t) => {
    const { proxy, add, certificate } = await openScene(t, { pebble: { tlsPort: await freePort() } });
    const asked = noteChallenges(proxy);
    await add();
    assert.equal((await certificate()).status, "issued");
    assert.deepEqual(asked, ["http-01"]);
  });

  test("if both fail, there are no more failures than the authority allows in an hour, however often a person asks, and the time of the next try is shown", async (t) => {
    const [httpPort, tlsPort] = await freePorts(2);
    const { platform, project, add, certificate, idle, orders } = await openScene(t, {
      pebble: { httpPort: httpPort!, tlsPort: tlsPort! },
    });
    const start = platform.time.now;
    await add();
    for (let pressed = 0; pressed < 10; pressed++) {
      platform.time.now += minuteMs;
      const { status } = await platform.service.ask("POST", `/projects/${project}/domains/${host}/verify`);
      assert.equal(status, 200);
      await idle();
    }
    assert.equal(orders(), 5, "failed authorizations of a name in an hour");
    const held = await certificate();
    assert.match(held.problem ?? "", /limit/);
    assert.equal(Date.parse(held.retryAt!), start + hourMs);
    platform.time.now = Date.parse(held.retryAt!);
    await idle();
    assert.equal(orders(), 6);
  });

  test("a challenge is answered over HTTP for its own name and token alone, never redirected, and no longer once the order is over", async (t) => {
    const { platform, proxy, add, certificate, idle } = await openScene(t);
    const answers: Record<string, number> = {};
    let path = "";
    proxy.intercept = {
      before: async (request) => {
        if (!request.path.startsWith("/chalZ/") || path === "") return undefined;
        answers["own"] = (await platform.http(host, path)).status;
        answers["another name"] = (await platform.http("rex.sites.test", path)).status;
        answers["another token"] = (await platform.http(host, `${path}x`)).status;
        return undefined;
      },
      after: (request, answer) => {
        if (request.path.startsWith("/authZ/") && answer.status === 200) {
          const { challenges } = JSON.parse(answer.body.toString()) as { challenges: { type: string; token: string }[] };
          path = `/.well-known/acme-challenge/${challenges.find(({ type }) => type === "http-01")!.token}`;
        }
        return answer;
      },
    };
    await add();
    assert.deepEqual(answers, { own: 200, "another name": 404, "another token": 404 });
    assert.equal((await certificate()).status, "issued");
    const first = path;
    assert.equal((await platform.http(host, first)).status, 404);
    platform.time.now = Date.parse((await certificate()).expiresAt!) - dayMs;
    await idle();
    assert.notEqual(path, first);
    assert.equal(answers["own"], 200, "beside a certificate, where all else is redirected to HTTPS");
    assert.equal((await platform.http(host, "/")).status, 308);
    assert.equal((await platform.http(host, path)).status, 404);
  });

  test("without an authority a verified name is served over HTTP, and nothing says that a certificate is late", async (t) => {
    const { platform, project, add } = await openScene(t, { env: { ACME_DIRECTORY_URL: "", ACME_CAA_IDENTITIES: "" } });
    await add();
    platform.time.now += hourMs;
    const domain = await platform.domain(project, host);
    assert.deepEqual([domain.status, domain.certificate.status, domain.attention, domain.problems], ["verified", "none", null, []]);
    assert.equal((await platform.http(host, "/")).body, "<h1>Rex</h1>");
    await assert.rejects(platform.https(host, "/"));
  });
});
