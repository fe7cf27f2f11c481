import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startAcmeProxy, type AcmeProxy, type ProxiedAnswer, type ProxiedRequest } from "../../../test/support/acme-proxy.ts";
import { startChallengeResponder, type ChallengeResponder } from "../../../test/support/challenge-responder.ts";
import { startDnsServer, type DnsServer } from "../../../test/support/dns-server.ts";
import { random, runs } from "../../../test/support/fault-runs.ts";
import { startPebble, type Pebble } from "../../../test/support/pebble.ts";
import { newAcmeOrder, openAccount } from "./acme-client.ts";
import { completeAcmeOrder } from "./acme-order.ts";
import { closeAcmeSession, openAcmeSession } from "./acme-session.ts";
import { newPrivateKey } from "./csr.ts";

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
        const order = await newAcmeOrder(account, hostname, { replaces: "aa.bb" });
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
});
