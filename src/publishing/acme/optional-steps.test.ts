import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { startAcmeProxy, type AcmeProxy, type Interception, type ProxiedAnswer } from "../../../test/support/acme-proxy.ts";
import { startChallengeResponder, type ChallengeResponder } from "../../../test/support/challenge-responder.ts";
import { startDnsServer, type DnsServer } from "../../../test/support/dns-server.ts";
import { startPebble, type Pebble } from "../../../test/support/pebble.ts";
import { newAcmeOrder, openAccount, completeAcmeOrder } from "./acme-client.ts";
import type { OptionalStep } from "./acme-problem.ts";
import { closeAcmeSession, openAcmeSession } from "./acme-session.ts";
import { renewalInfoOf } from "./ari.ts";
import { newPrivateKey } from "./x509.ts";

const json = (value: unknown): Partial<ProxiedAnswer> => ({ body: Buffer.from(JSON.stringify(value)) });

/** What authorities answer a step that they do not support, each with its own type and status. */
const refusals: Partial<ProxiedAnswer>[] = [
  ...["malformed", "unauthorized", "serverInternal", "unsupportedContact", "alreadyReplaced", "com.example:odd"].map((type) => ({
    status: 400,
    ...json({ type: `urn:ietf:params:acme:error:${type}`, detail: "not here" }),
  })),
  { status: 403, ...json({ type: "urn:ietf:params:acme:error:unauthorized", detail: "not yours" }) },
  { status: 404, body: Buffer.from("<h1>Not found</h1>") },
  { status: 405 },
  { status: 409, ...json({ detail: null, subproblems: null }) },
  { status: 500, body: Buffer.from("panic") },
  { status: 501 },
];

type Refusal = (answer: Partial<ProxiedAnswer>) => Interception;

const has = (payload: unknown, member: string): boolean => typeof payload === "object" && payload !== null && member in payload;
const refusing =
  (member: string): Refusal =>
  (answer) => ({ before: ({ payload }) => (has(payload, member) ? answer : undefined) });

/** For each optional step, what stands in for an authority that refuses it. */
const withoutStep: Record<OptionalStep, Refusal> = {
  "account look-up": refusing("onlyReturnExisting"),
  contact: refusing("contact"),
  "renewal information": (answer) => ({ before: ({ path }) => (path.startsWith("/renewal-info/") ? answer : undefined) }),
  replaces: refusing("replaces"),
  "preferred challenge": (answer) => {
    let refused: string | undefined;
    return {
      before: ({ path }) => {
        if (!path.startsWith("/chalZ/")) return undefined;
        refused ??= path;
        return path === refused ? answer : undefined;
      },
    };
  },
  "kept nonce": () => {
    const seen = new Set<string>();
    const badNonce = { status: 400, ...json({ type: "URN:ietf:params:acme:error:BadNonce", detail: null }) };
    return {
      before: ({ method, path }) => {
        if (method !== "POST" || seen.has(path)) return undefined;
        seen.add(path);
        return badNonce;
      },
    };
  },
  "reused connection": () => ({ after: (_request, answer) => ({ ...answer, headers: { ...answer.headers, connection: "close" } }) }),
  "uncompressed answers": () => ({
    after: (_request, answer) => ({
      ...answer,
      headers: { ...answer.headers, "content-encoding": "gzip" },
      body: answer.body.length === 0 ? answer.body : gzipSync(answer.body),
    }),
  }),
  "Retry-After": () => {
    const wrong = ["", "soon", "-1", "1e9", "Thu, 99 Foo 2026 99:00:00 GMT"];
    let answers = 0;
    return { after: (_request, answer) => ({ ...answer, headers: { ...answer.headers, "retry-after": wrong[answers++ % wrong.length] } }) };
  },
};

/** Calls `count` for each request that the interception answers, or whose answer it may change. */
function counted({ before: answerTo, after: change }: Interception, count: () => void): Interception {
  return {
    before: async (request) => {
      const answer = await answerTo?.(request);
      if (answer !== undefined) count();
      return answer;
    },
    after: (request, answer) => {
      if (change) count();
      return change?.(request, answer) ?? answer;
    },
  };
}

describe("a certificate is issued without an optional step", () => {
  let dns: DnsServer;
  let responder: ChallengeResponder;
  let pebble: Pebble;
  let proxy: AcmeProxy;
  let names = 0;

  before(async () => {
    [dns, responder] = await Promise.all([startDnsServer(), startChallengeResponder()]);
    dns.set("*.shop.test", "A", ["127.0.0.1"]);
    pebble = await startPebble({ dns: dns.address, httpPort: responder.httpPort, tlsPort: responder.tlsPort });
    proxy = await startAcmeProxy(pebble);
  });
  after(async () => {
    await proxy.close();
    await Promise.all([pebble.stop(), responder.close(), dns.close()]);
  });

  async function issue(prefer: "http-01" | "tls-alpn-01"): Promise<void> {
    const hostname = `name-${names++}.shop.test`;
    const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now });
    try {
      session.directory.renewalInfo = new URL("/renewal-info", proxy.directoryUrl).href;
      const account = await openAccount(session, await newPrivateKey(), { email: "owner@shop.test" });
      await renewalInfoOf(session, "aa.bb");
      const order = await newAcmeOrder(account, hostname, "aa.bb");
      const { leaf } = await completeAcmeOrder(account, order, {
        hostname,
        key: await newPrivateKey(),
        prefer,
        publish: (challenge) => responder.publish(hostname, challenge, Date.now()),
      });
      assert.equal(leaf.subjectAltName, `DNS:${hostname}`);
    } finally {
      closeAcmeSession(session);
    }
  }

  for (const [step, refusal] of Object.entries(withoutStep) as [OptionalStep, Refusal][]) {
    it(step, async () => {
      // A step that ignores the refusal's form needs no run for each.
      for (const answer of refusal.length === 0 ? [{}] : refusals) {
        for (const prefer of step === "preferred challenge" ? (["http-01", "tls-alpn-01"] as const) : (["http-01"] as const)) {
          proxy.requests.length = 0;
          let refused = 0;
          proxy.intercept = counted(refusal(answer), () => refused++);
          await issue(prefer);
          assert.ok(proxy.requests.filter(({ path, status }) => path === "/order-plz" && status === 201).length === 1, "one order");
          assert.ok(refused > 0, "the step was refused");
        }
      }
    });
  }

  it("but a limit on new orders is respected, whatever the order says", async () => {
    proxy.intercept = refusing("replaces")({ status: 429, headers: { "retry-after": "60" } });
    await assert.rejects(issue("http-01"), { failure: "rate_limited" });
  });

  it("and with a binding that has ended, because the account exists", async () => {
    const key = await newPrivateKey();
    const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now });
    proxy.intercept = {};
    const { url } = await openAccount(session, key);
    proxy.intercept = refusing("externalAccountBinding")(refusals[0]!);
    const external = { keyId: "ended", hmacKey: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajV" };
    assert.equal((await openAccount(session, key, { external })).url, url);
    closeAcmeSession(session);
  });

  it("an authority that asks for a binding only when it refuses the account is answered with the settings' names", async () => {
    const asks = { status: 401, ...json({ type: "urn:ietf:params:acme:error:EXTERNALACCOUNTREQUIRED" }) };
    const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now });
    proxy.intercept = { before: ({ path }) => (path === "/sign-me-up" ? asks : undefined) };
    for (const email of [undefined, "owner@shop.test"])
      await assert.rejects(openAccount(session, await newPrivateKey(), { email }), { message: /ACME_EAB_KID/ });
    closeAcmeSession(session);
  });

  it("sends a new order once, on a new connection, so that a closed connection never orders twice", async () => {
    let orders = 0;
    const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now });
    proxy.intercept = {};
    const account = await openAccount(session, await newPrivateKey());
    proxy.requests.length = 0;
    proxy.intercept = { after: ({ path }, answer) => (path === "/order-plz" && answer.status === 201 ? (orders++, "hang up") : answer) };
    await assert.rejects(newAcmeOrder(account, "once.shop.test", "aa.bb"), { failure: "unreachable" });
    assert.equal(orders, 1);
    closeAcmeSession(session);
  });
});
