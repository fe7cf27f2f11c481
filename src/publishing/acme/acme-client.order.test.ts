import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { startAcmeProxy, type AcmeProxy, type ProxiedAnswer, type ProxiedRequest } from "../../../test/support/acme-proxy.ts";
import { startChallengeResponder, type ChallengeResponder } from "../../../test/support/challenge-responder.ts";
import { startDnsServer, type DnsServer } from "../../../test/support/dns-server.ts";
import { startPebble, type Pebble } from "../../../test/support/pebble.ts";
import { newAcmeOrder, openAccount, resumeAcmeOrder, type AcmeAccount, completeAcmeOrder, type AcmeOrderWork } from "./acme-client.ts";
import type { AcmeProblem } from "./acme-problem.ts";
import { closeAcmeSession, openAcmeSession } from "./acme-session.ts";
import { newPrivateKey } from "./x509.ts";

const isFinalize = (request: ProxiedRequest): boolean => request.path.startsWith("/finalize-order/");
const isOrder = (request: ProxiedRequest): boolean => request.path === "/order-plz";

function withStatus(answer: ProxiedAnswer, status: string, headers: object = {}): ProxiedAnswer {
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(answer.body.toString()), status }));
  return { ...answer, headers: { ...answer.headers, ...headers }, body };
}

describe("a certificate order", () => {
  let dns: DnsServer;
  let responder: ChallengeResponder;
  let pebble: Pebble;
  let proxy: AcmeProxy;
  let account: AcmeAccount;

  before(async () => {
    [dns, responder] = await Promise.all([startDnsServer(), startChallengeResponder()]);
    dns.set("*.shop.test", "A", ["127.0.0.1"]);
    const { httpPort, tlsPort } = responder;
    pebble = await startPebble({ dns: dns.address, httpPort, tlsPort, nonceRejectPercent: 50 });
    proxy = await startAcmeProxy(pebble);
    const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now });
    account = await openAccount(session, await newPrivateKey(), { email: "owner@shop.test" });
  });
  after(async () => {
    closeAcmeSession(account.session);
    await proxy.close();
    await Promise.all([pebble.stop(), responder.close(), dns.close()]);
  });

  async function orderWork(hostname: string, prefer: AcmeOrderWork["prefer"] = "http-01"): Promise<AcmeOrderWork> {
    const publish: AcmeOrderWork["publish"] = (challenge) => responder.publish(hostname, challenge, Date.now());
    return { hostname, key: await newPrivateKey(), prefer, publish };
  }

  /** Runs `work` while the proxy changes requests or answers. */
  async function during<T>(intercept: AcmeProxy["intercept"], work: () => Promise<T>): Promise<T> {
    proxy.requests.length = 0;
    proxy.intercept = intercept;
    try {
      return await work();
    } finally {
      proxy.intercept = {};
    }
  }

  for (const prefer of ["http-01", "tls-alpn-01"] as const) {
    it(`ends with a trusted certificate by ${prefer}, even if the authority refuses half of all nonces`, async () => {
      const hostname = `${prefer}.shop.test`;
      const wanted = await orderWork(hostname, prefer);
      const issued = await completeAcmeOrder(account, await newAcmeOrder(account, hostname), wanted);
      const [leaf, intermediate] = issued.chain.split(/(?<=-----END CERTIFICATE-----\n)/).map((text) => new X509Certificate(text));
      const root = new X509Certificate(await pebble.root());
      assert.equal(leaf!.subjectAltName, `DNS:${hostname}`);
      assert.ok(leaf!.checkPrivateKey(wanted.key));
      assert.ok(leaf!.verify(intermediate!.publicKey) && intermediate!.verify(root.publicKey));
      assert.deepEqual([issued.notBefore, issued.notAfter], [leaf!.validFromDate.getTime(), leaf!.validToDate.getTime()]);
    });
  }

  it("issues many names at the same time", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}.shop.test`);
    const issued = await Promise.all(
      names.map(async (name) => completeAcmeOrder(account, await newAcmeOrder(account, name), await orderWork(name))),
    );
    assert.deepEqual(
      issued.map(({ leaf }) => leaf.subjectAltName),
      names.map((name) => `DNS:${name}`),
    );
  });

  it("survives a lost answer to finalize, without a second order", async () => {
    const wanted = await orderWork("lost.shop.test");
    let orders = 0;
    let lost = 0;
    const lose: AcmeProxy["intercept"]["after"] = (request, answer) => {
      if (isOrder(request) && answer.status === 201) orders++;
      return isFinalize(request) && answer.status === 200 && lost++ === 0 ? "hang up" : answer;
    };
    const issued = await during({ after: lose }, async () =>
      completeAcmeOrder(account, await newAcmeOrder(account, wanted.hostname), wanted),
    );
    assert.ok(issued.leaf.checkPrivateKey(wanted.key));
    assert.deepEqual({ orders, lost }, { orders: 1, lost: 1 });
  });

  for (const step of ["/authZ/", "/chalZ/", "/my-order/", "/finalize-order/", "/certZ/"]) {
    for (const when of ["before", "after"] as const) {
      it(`is resumed from its URL alone if the connection is lost ${when} the authority receives ${step}`, async () => {
        const wanted = await orderWork(`killed-${when}-${step.replaceAll("/", "").toLowerCase()}.shop.test`);
        const order = await newAcmeOrder(account, wanted.hostname);
        let dead = false;
        const cut = (request: ProxiedRequest): "hang up" | undefined => {
          dead ||= request.path.startsWith(step);
          return dead ? "hang up" : undefined;
        };
        const cutAfter = (request: ProxiedRequest, answer: ProxiedAnswer) => cut(request) ?? answer;
        const faults = when === "before" ? { before: cut } : { before: () => (dead ? "hang up" : undefined), after: cutAfter };
        await during(faults, () => assert.rejects(completeAcmeOrder(account, order, wanted), { failure: "unreachable" }));
        const { leaf } = await completeAcmeOrder(account, await resumeAcmeOrder(account, order.url), wanted);
        assert.ok(leaf.checkPrivateKey(wanted.key));
      });
    }
  }

  it("can be resumed if its challenge could not be published to every node", async () => {
    const wanted = await orderWork("unpublished.shop.test");
    const order = await newAcmeOrder(account, wanted.hostname);
    proxy.requests.length = 0;
    await assert.rejects(completeAcmeOrder(account, order, { ...wanted, publish: () => Promise.reject(new Error("killed")) }), {
      message: "killed",
    });
    assert.equal(proxy.requests.filter((request) => request.path.startsWith("/chalZ/")).length, 0);
    assert.ok((await completeAcmeOrder(account, await resumeAcmeOrder(account, order.url), wanted)).leaf.checkPrivateKey(wanted.key));
  });

  it("continues if the authority has already checked the name when it gets the answer to the challenge", async () => {
    const wanted = await orderWork("raced.shop.test");
    const order = await newAcmeOrder(account, wanted.hostname);
    await during({ before: (request) => (isFinalize(request) ? "hang up" : undefined) }, () =>
      assert.rejects(completeAcmeOrder(account, order, wanted)),
    );
    let looks = 0;
    const late: AcmeProxy["intercept"]["after"] = (request, answer) =>
      request.path.startsWith("/authZ/") && answer.status === 200 && looks++ === 0 ? withStatus(answer, "pending") : answer;
    const { leaf } = await during({ after: late }, () => completeAcmeOrder(account, order, wanted));
    assert.ok(leaf.checkPrivateKey(wanted.key));
    assert.equal(proxy.requests.filter((request) => request.path.startsWith("/chalZ/")).length > 0, true);
  });

  it("fails for good, with the authority's message, when the name does not point here", async () => {
    const wanted = await orderWork("missing.elsewhere.test");
    const order = await newAcmeOrder(account, wanted.hostname);
    await assert.rejects(completeAcmeOrder(account, order, wanted), {
      failure: "invalid",
      type: /^(connection|dns)$/,
      message: /missing\.elsewhere\.test/,
    });
    const given = await resumeAcmeOrder(account, order.url);
    assert.equal(given.status, "invalid");
    await assert.rejects(completeAcmeOrder(account, given, wanted), { failure: "invalid", message: /missing\.elsewhere\.test/ });
  });

  it("is invalid when the authority no longer has it", async () => {
    const url = new URL("/my-order/forgotten", proxy.directoryUrl).href;
    await assert.rejects(resumeAcmeOrder(account, url), { failure: "invalid", status: 404 });
  });

  it("refuses a certificate that has expired already", async () => {
    const wanted = await orderWork("expired.shop.test");
    const order = await newAcmeOrder(account, wanted.hostname);
    const later = { ...account, session: { ...account.session, clock: () => Date.UTC(2300, 0, 1) } };
    await assert.rejects(completeAcmeOrder(later, order, wanted), { failure: "nonsense", message: /expired/ });
  });

  it("reports a 429 with the time that Retry-After names, and does not retry automatically", async () => {
    const body = Buffer.from(
      JSON.stringify({ type: "urn:ietf:params:acme:error:rateLimited", detail: "too many certificates already issued" }),
    );
    const before429 = Date.now();
    await during({ before: (request) => (isOrder(request) ? { status: 429, headers: { "retry-after": "3600" }, body } : undefined) }, () =>
      assert.rejects(newAcmeOrder(account, "limited.shop.test"), (error: AcmeProblem) => {
        assert.equal(error.failure, "rate_limited");
        assert.match(error.message, /too many certificates already issued/);
        assert.ok(error.retryAt! >= before429 + 3_600_000 && error.retryAt! <= Date.now() + 3_600_000);
        return true;
      }),
    );
    assert.equal(proxy.requests.filter((request) => isOrder(request)).length, 1);
  });

  it("reports a 503 as unavailable, with an HTTP date in Retry-After", async () => {
    const at = Math.ceil(Date.now() / 1000) * 1000 + 600_000;
    const answer = { status: 503, headers: { "retry-after": new Date(at).toUTCString() }, body: Buffer.from("<h1>down</h1>") };
    await during({ before: (request) => (isOrder(request) ? answer : undefined) }, () =>
      assert.rejects(newAcmeOrder(account, "down.shop.test"), { failure: "unavailable", status: 503, retryAt: at }),
    );
  });

  it("can be resumed later if the authority needs more than a minute", async () => {
    const wanted = await orderWork("slow.shop.test");
    const order = await newAcmeOrder(account, wanted.hostname);
    await during(
      {
        after: (request, answer) =>
          isFinalize(request) && answer.status === 200 ? withStatus(answer, "processing", { "retry-after": "7200" }) : answer,
      },
      () =>
        assert.rejects(completeAcmeOrder(account, order, wanted), (error: AcmeProblem) => {
          assert.equal(error.failure, "unavailable");
          return error.retryAt! > Date.now() + 7_000_000;
        }),
    );
    assert.ok((await completeAcmeOrder(account, await resumeAcmeOrder(account, order.url), wanted)).leaf.checkPrivateKey(wanted.key));
  });

  it("refuses a certificate that comes with a private key, and keeps nothing of it", async () => {
    const leaked = (await newPrivateKey()).export({ format: "pem", type: "pkcs8" });
    const intercept: AcmeProxy["intercept"] = {
      after: ({ path }, answer) =>
        path.startsWith("/certZ/") && answer.status === 200
          ? { ...answer, body: Buffer.concat([answer.body, Buffer.from(leaked)]) }
          : answer,
    };
    await during(intercept, async () => {
      const work = completeAcmeOrder(account, await newAcmeOrder(account, "leak.shop.test"), await orderWork("leak.shop.test"));
      await assert.rejects(work, { failure: "nonsense", message: "The certificate authority sent a private key with the certificate." });
    });
  });

  it("refuses a certificate that is for another name or another key", async () => {
    const [mine, other] = await Promise.all([orderWork("mine.shop.test"), orderWork("other.shop.test")]);
    const foreign = await completeAcmeOrder(account, await newAcmeOrder(account, other.hostname), other);
    const order = await newAcmeOrder(account, mine.hostname);
    await during(
      {
        after: (request, answer) =>
          request.path.startsWith("/certZ/") && answer.status === 200
            ? { ...answer, headers: {}, body: Buffer.from(foreign.chain) }
            : answer,
      },
      () => assert.rejects(completeAcmeOrder(account, order, mine), { failure: "nonsense", message: /not for mine\.shop\.test/ }),
    );
    await assert.rejects(completeAcmeOrder(account, await resumeAcmeOrder(account, order.url), { ...mine, key: other.key }), {
      failure: "nonsense",
      message: /another key/,
    });
  });
});
