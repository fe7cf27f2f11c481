import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { startAcmeProxy, type AcmeProxy, type ProxiedAnswer, type ProxiedRequest } from "../../../test/support/acme-proxy.ts";
import { startChallengeResponder, type ChallengeResponder } from "../../../test/support/challenge-responder.ts";
import { startDnsServer, type DnsServer } from "../../../test/support/dns-server.ts";
import { random, runs } from "../../../test/support/fault-runs.ts";
import { startPebble, type Pebble } from "../../../test/support/pebble.ts";
import { getAuthorization, newAcmeOrder, openAccount, completeAcmeOrder } from "./acme-client.ts";
import { parseRetryAfter, problemOf } from "./acme-messages.ts";
import type { AcmeProblem } from "./acme-problem.ts";
import { closeAcmeSession, openAcmeSession, type AcmeSession } from "./acme-session.ts";
import { renewalInfo, renewalInfoOf } from "./ari.ts";
import { newPrivateKey } from "./x509.ts";

/*
 * Authorities write the same message in many ways. Each run changes every answer of a real one as RFC 8555 allows, or as programs do although it says
 * nothing of it, and a certificate is issued all the same.
 */

/** The members that an order needs, wherever they occur. */
const required = new Set([
  "newNonce",
  "newAccount",
  "newOrder",
  "status",
  "authorizations",
  "finalize",
  "certificate",
  "challenges",
  "url",
  "token",
  "type",
  "meta",
]);
const empty: unknown[] = [undefined, null, "", []];
/** Optional members that an authority may add, with a value of theirs and with one of another type. */
const optional: Record<string, unknown[]> = {
  renewalInfo: [null, ""],
  meta: [null, {}, { termsOfService: null, website: "", caaIdentities: null, externalAccountRequired: null, profiles: {} }],
  expires: [null, "", "2030-01-01T00:00:00Z"],
  notBefore: [null, ""],
  notAfter: [null, ""],
  error: [null],
  replaces: [null, ""],
  wildcard: [null, false],
  validated: [null, ""],
  orders: [null, ""],
  contact: [null, []],
  profile: [null, "default"],
  "x-more": [1, { deep: [null] }],
};

const pick = <T>(items: readonly T[]): T => items[random(0, items.length)]!;
const isSometimes = (): boolean => random(0, 2) === 0;

function varied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(varied).concat(isSometimes() ? [null] : []);
  if (typeof value !== "object" || value === null) return value;
  const members: [string, unknown][] = Object.entries(value).map(([name, member]) => [
    name,
    name === "status" && isSometimes()
      ? String(member).toUpperCase()
      : required.has(name)
        ? varied(member)
        : isSometimes()
          ? pick(empty)
          : varied(member),
  ]);
  for (const [name, values] of Object.entries(optional)) if (!(name in value) && isSometimes()) members.push([name, pick(values)]);
  return Object.fromEntries(members);
}

/** An order that is valid need no longer name its authorizations. */
function variedAnswer({ path }: ProxiedRequest, answer: ProxiedAnswer): ProxiedAnswer {
  const text = answer.body.toString();
  if (text.startsWith("-----BEGIN")) return { ...answer, body: Buffer.from(variedPem(text)) };
  if (!text.startsWith("{")) return answer;
  const message = JSON.parse(text) as Record<string, unknown>;
  if (path.startsWith("/my-order/") && message["status"] === "valid") message["authorizations"] = pick([undefined, null, "", []]) ?? null;
  const type = pick(["application/json", "Application/JSON; charset=utf-8", "application/octet-stream"]);
  return { ...answer, headers: { ...answer.headers, "content-type": type }, body: Buffer.from(JSON.stringify(varied(message))) };
}

function variedPem(pem: string): string {
  const around = pick([pem, `subject=CN = any\n${pem}`, `${pem}\n\n# the end`, pem.replaceAll("CERTIFICATE-----", "CERTIFICATE-----  ")]);
  return pick([around, around.replaceAll("\n", "\r\n"), `\uFEFF${around}`]);
}

/** Values that an authority may send where a member says nothing, or says it wrongly. */
const odd: unknown[] = [undefined, null, "", [], {}, 7, true, "\u0000"];
const capitals = (text: string): string =>
  pick([text, text.toUpperCase(), text.toLowerCase(), text.charAt(0).toUpperCase() + text.slice(1)]);

describe("a problem document", () => {
  for (let run = 0; run < runs(6, 100); run++)
    it(`keeps its type and text, however it is written, run ${run}`, () => {
      const type = pick(["badNonce", "rateLimited", "accountDoesNotExist", "orderNotReady", "unauthorized", "externalAccountRequired"]);
      const said = { type: `${capitals("urn:ietf:params:acme:error:")}${capitals(type)}`, detail: "the reason" };
      const more = Object.fromEntries(["status", "instance", "algorithms", "x-more"].map((name) => [name, pick(odd)]));
      const subproblems = pick([undefined, null, "", [], [null], [{ type: null, detail: "" }], [{ type: 7, identifier: null }]]);
      const body = Buffer.from(`${pick(["", "\uFEFF"])}${JSON.stringify({ ...said, ...more, subproblems })}${pick(["", "\r\n"])}`);
      const problem = problemOf({ status: 400, headers: {}, body }, "order", 0);
      assert.equal(problem.type, type);
      assert.match(problem.message, /the reason$/);
      assert.equal(problem.failure, type === "rateLimited" ? "rate_limited" : "refused");
    });

  it("that says nothing, or is none, is named by its status", () => {
    for (const value of odd) {
      const body = Buffer.from(JSON.stringify(pick([value, { type: value, detail: value, subproblems: value }])) ?? "");
      const { message, failure } = problemOf({ status: 403, headers: {}, body }, "order", 0);
      assert.match(message, /^The certificate authority refuses \(order\): ./);
      assert.equal(failure, "refused");
    }
  });
});

test("Retry-After is taken in each form of RFC 9110, at most a week, and ignored if it is none", () => {
  const now = Date.UTC(2026, 10, 6, 8, 0, 0);
  const hour = now + 3_600_000;
  const week = now + 7 * 86_400_000;
  const cases: [string | undefined, number | null][] = [
    ["3600", hour],
    ["Fri, 06 Nov 2026 09:00:00 GMT", hour],
    ["Friday, 06-Nov-26 09:00:00 GMT", hour],
    ["Fri Nov  6 09:00:00 2026", hour],
    ["fri, 06 nov 2026 09:00:00 gmt", hour],
    ["Fri, 06 Nov 1970 09:00:00 GMT", now],
    ["0", now],
    ["9".repeat(400), week],
    ["Fri, 06 Nov 9999 09:00:00 GMT", week],
    ...[undefined, "", "soon", "-1", "1.5", "1e9", "0x10", "Fri, 99 Foo 2026", "2026-11-06", "Infinity"].map(
      (text): [string | undefined, null] => [text, null],
    ),
  ];
  for (const [header, at] of cases) assert.equal(parseRetryAfter(header, now), at, String(header));
});

describe("an authority that writes its messages in its own way", () => {
  let dns: DnsServer;
  let responder: ChallengeResponder;
  let pebble: Pebble;
  let proxy: AcmeProxy;

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

  for (let run = 0; run < runs(6, 100); run++)
    it(`issues a certificate, run ${run}`, async () => {
      proxy.intercept = { after: variedAnswer };
      const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now });
      try {
        const account = await openAccount(session, await newPrivateKey());
        const hostname = `run-${run}.shop.test`;
        const order = await newAcmeOrder(account, hostname, "aa.bb");
        const { leaf, chain } = await completeAcmeOrder(account, order, {
          hostname,
          key: await newPrivateKey(),
          prefer: pick(["http-01", "tls-alpn-01"]),
          publish: (challenge) => responder.publish(hostname, challenge, Date.now()),
        });
        assert.equal(leaf.subjectAltName, `DNS:${hostname}`);
        assert.match(chain, /^(-----BEGIN CERTIFICATE-----\n[\w+/=\n]+\n-----END CERTIFICATE-----\n){2,}$/);
      } finally {
        closeAcmeSession(session);
      }
    });

  async function withSession(work: (session: AcmeSession) => Promise<void>): Promise<void> {
    proxy.intercept = {};
    const session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: Date.now, timeoutMs: 1_000 });
    session.directory.renewalInfo = new URL("/ari", proxy.directoryUrl).href;
    await work(session).finally(() => closeAcmeSession(session));
  }

  it("sends a renewal window in each way of RFC 3339, or none that counts", () =>
    withSession(async (session) => {
      const window = { start: "2027-02-01T00:00:00Z", end: "2027-02-03T00:00:00Z" };
      const answering = (body: unknown) => {
        proxy.intercept = { before: ({ path }) => (path === "/ari/aa.bb" ? { body: Buffer.from(JSON.stringify(body)) } : undefined) };
      };
      for (const start of [window.start, "2027-02-01t00:00:00z", "2027-02-01T00:00:00.000000000Z", "2027-02-01T01:00:00+01:00"])
        for (const explanationURL of odd) {
          answering({ suggestedWindow: { ...window, start, "x-more": null }, explanationURL });
          assert.equal((await renewalInfo(session, "aa.bb"))?.start, Date.parse(window.start), start);
        }
      for (const value of [...odd, { ...window, end: window.start }]) {
        for (const body of [value, { suggestedWindow: value }, { suggestedWindow: { ...window, end: value } }]) {
          answering(body);
          assert.equal(await renewalInfoOf(session, "aa.bb"), null);
        }
      }
    }));

  it("names the URL of an order relative to the request, and the certificate a moment after the order is valid", () =>
    withSession(async (session) => {
      const account = await openAccount(session, await newPrivateKey());
      let valid = 0;
      proxy.intercept = {
        after: ({ path }, answer) => {
          if (path === "/order-plz" && answer.status === 201)
            return { ...answer, headers: { ...answer.headers, location: new URL(answer.headers.location!).pathname } };
          if (!path.startsWith("/my-order/") || answer.status !== 200) return answer;
          const message = JSON.parse(answer.body.toString()) as { status: string };
          if (message.status !== "valid" || valid++ > 0) return answer;
          return { ...answer, body: Buffer.from(JSON.stringify({ ...message, certificate: null, finalize: null })) };
        },
      };
      const order = await newAcmeOrder(account, "late.shop.test");
      assert.match(order.url, /^https:\/\/localhost:\d+\/my-order\//);
      await completeAcmeOrder(account, order, {
        hostname: "late.shop.test",
        key: await newPrivateKey(),
        prefer: "http-01",
        publish: (challenge) => responder.publish("late.shop.test", challenge, Date.now()),
      });
      assert.ok(valid > 0, "the order was valid without a certificate");
    }));

  it("offers challenges whose optional members are odd, beside others that are none", () =>
    withSession(async (session) => {
      const account = await openAccount(session, await newPrivateKey());
      const order = await newAcmeOrder(account, "odd.shop.test");
      const good = { type: "HTTP-01", url: "https://localhost/chall", token: "abcdefghijklmnopqrstuvwxyz", status: "Pending" };
      for (const value of odd) {
        const others = [
          { type: value, url: value, token: value, error: value },
          { type: "dns-01", url: "http://plain.test/", error: value },
        ];
        const body = Buffer.from(
          JSON.stringify({ status: "PENDING", challenges: [...others, { ...good, error: value, validated: value }], expires: value }),
        );
        proxy.intercept = { before: ({ path }) => (path.startsWith("/authZ/") ? { body } : undefined) };
        const { challenges } = await getAuthorization(account, order.authorizations[0]!);
        assert.deepEqual(
          challenges.map(({ type, url }) => [type, url]),
          [["http-01", good.url]],
        );
      }
    }));

  it("says what was wrong with an answer that is cut off, compressed twice, or late", () =>
    withSession(async (session) => {
      const account = await openAccount(session, await newPrivateKey());
      const late = Promise.withResolvers<void>();
      const wrong: [() => Promise<Partial<ProxiedAnswer>>, RegExp][] = [
        [
          async () => ({ status: 201, headers: { location: "/order" }, body: Buffer.from('{"status":"pend') }),
          /invalid order: it is not JSON/,
        ],
        [async () => ({ headers: { "content-encoding": "gzip" }, body: Buffer.from("{}") }), /is not gzip/],
        [async () => ({ headers: { "content-encoding": "GZIP, br" }, body: Buffer.from("{}") }), /unknown encoding gzip, br/],
        [async () => late.promise.then(() => ({})), /no answer within 1 s/],
      ];
      for (const [answer, message] of wrong) {
        proxy.intercept = { before: ({ path }) => (path === "/order-plz" ? answer() : undefined) };
        await assert.rejects(newAcmeOrder(account, "wrong.shop.test"), (error: AcmeProblem) => message.test(error.message));
      }
      late.resolve();
    }));
});
