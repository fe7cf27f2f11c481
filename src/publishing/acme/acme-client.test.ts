import assert from "node:assert/strict";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { after, before, describe, it } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { startAcmeProxy, type AcmeProxy, type ProxiedAnswer } from "../../../test/support/acme-proxy.ts";
import { startPebble, type Pebble } from "../../../test/support/pebble.ts";
import { answerChallenge, getAuthorization, newAcmeOrder, openAccount, type AcmeAccount } from "./acme-client.ts";
import type { AcmeProblem } from "./acme-problem.ts";
import { closeAcmeSession, openAcmeSession } from "./acme-session.ts";
import { newPrivateKey } from "./x509.ts";

const json = (value: unknown): Partial<ProxiedAnswer> => ({ body: Buffer.from(JSON.stringify(value)) });

describe("an ACME client", () => {
  let pebble: Pebble;
  let proxy: AcmeProxy;
  let account: AcmeAccount;
  const external = { keyId: "kid-1", hmacKey: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W" };
  const open = (directoryUrl = proxy.directoryUrl, timeoutMs?: number) =>
    openAcmeSession({ directoryUrl, ca: pebble.ca, clock: Date.now, timeoutMs });

  before(async () => {
    pebble = await startPebble({ dns: "127.0.0.1:9", httpPort: 9, tlsPort: 9, externalAccounts: { [external.keyId]: external.hmacKey } });
    proxy = await startAcmeProxy(pebble);
    account = await openAccount(await open(), await newPrivateKey(), { external });
  });
  after(async () => {
    closeAcmeSession(account.session);
    await proxy.close();
    await pebble.stop();
  });

  /** Runs `work` while every request to a path that begins with `path` gets this answer. */
  async function answering(path: string, answer: Partial<ProxiedAnswer> | "hang up", work: () => Promise<unknown>): Promise<void> {
    proxy.requests.length = 0;
    proxy.intercept = { before: (request) => (request.path.startsWith(path) ? answer : undefined) };
    try {
      await work();
    } finally {
      proxy.intercept = {};
    }
  }

  it("binds a new account to an external one, and finds the account again by its key", async () => {
    const again = await openAccount(account.session, account.key, { external });
    assert.equal(again.url, account.url);
  });

  it("needs no binding for an account that exists (RFC 8555 section 7.3.1)", async () => {
    await answering("/dir", json({ ...account.session.directory, meta: { externalAccountRequired: true } }), async () => {
      const session = await open();
      assert.equal((await openAccount(session, account.key)).url, account.url);
      closeAcmeSession(session);
    });
  });

  it("names the missing settings if the authority requires an external account", async () => {
    await answering("/dir", json({ ...account.session.directory, meta: { externalAccountRequired: true } }), async () => {
      const session = await open();
      await assert.rejects(openAccount(session, await newPrivateKey()), {
        failure: "refused",
        type: "externalAccountRequired",
        message: /ACME_EAB_KID/,
      });
      closeAcmeSession(session);
    });
  });

  it("passes on the authority's reason for refusing a binding", async () => {
    const forged = { keyId: external.keyId, hmacKey: Buffer.from("not the key").toString("base64url") };
    await assert.rejects(openAccount(account.session, await newPrivateKey(), { external: forged }), {
      failure: "refused",
      status: 403,
      message: /external account binding/,
    });
  });

  it("sends `replaces` only where the directory offers renewal information", async () => {
    await newAcmeOrder(account, "plain.test", "aa.bb");
    assert.deepEqual(proxy.requests.at(-1)?.payload, { identifiers: [{ type: "dns", value: "plain.test" }] });
    const { directory } = account.session;
    const offering = { ...directory, renewalInfo: "https://localhost/ari" };
    const able = { ...account, session: { ...account.session, directory: offering } };
    await newAcmeOrder(able, "plain.test", "aa.bb").catch(() => {});
    assert.deepEqual(proxy.requests.at(-1)?.payload, {
      identifiers: [{ type: "dns", value: "plain.test" }],
      replaces: "aa.bb",
    });
  });

  for (const [what, refusal] of [
    [
      "has replaced the certificate already",
      { status: 409, ...json({ type: "urn:ietf:params:acme:error:alreadyReplaced", detail: "replaced" }) },
    ],
    [
      "does not know the certificate",
      { status: 404, ...json({ type: "urn:ietf:params:acme:error:malformed", detail: "no such certificate" }) },
    ],
    ["does not know the member", { status: 400, ...json({ type: "urn:ietf:params:acme:error:malformed", detail: "unknown member" }) }],
    ["answers something else", { status: 422, body: Buffer.from("<h1>Unprocessable</h1>") }],
    ["fails", { status: 500, body: Buffer.from("internal error") }],
  ] as const)
    it(`orders without \`replaces\` where the authority ${what}`, async () => {
      const directory = { ...account.session.directory, renewalInfo: "https://localhost/ari" };
      const able = { ...account, session: { ...account.session, directory } };
      proxy.intercept = {
        before: ({ path, payload }) => (path === "/order-plz" && JSON.stringify(payload).includes("replaces") ? refusal : undefined),
      };
      const order = await newAcmeOrder(able, "again.test", "aa.bb");
      proxy.intercept = {};
      assert.equal(order.status, "pending");
    });

  it("reports why an order without `replaces` was refused, and does not order twice where requests are limited", async () => {
    const directory = { ...account.session.directory, renewalInfo: "https://localhost/ari" };
    const able = { ...account, session: { ...account.session, directory } };
    const refused = { status: 403, ...json({ type: "urn:ietf:params:acme:error:rejectedIdentifier", detail: "not this name" }) };
    await answering("/order-plz", refused, () => assert.rejects(newAcmeOrder(able, "no.test", "aa.bb"), { message: /not this name/ }));
    const limited = { status: 429, ...json({ type: "urn:ietf:params:acme:error:rateLimited", detail: "slow down" }) };
    await answering("/order-plz", limited, async () => {
      proxy.requests.length = 0;
      await assert.rejects(newAcmeOrder(able, "no.test", "aa.bb"), { failure: "rate_limited" });
      assert.equal(proxy.requests.filter(({ path }) => path === "/order-plz").length, 1);
    });
  });

  it("ignores challenge types that it does not support, and tokens that are not base64url", async () => {
    const url = "https://localhost/challenge";
    const token = "abcdefghijklmnopqrstuvwxyz";
    const challenges = [
      { type: "dns-01", url, token },
      { type: "dns-account-01", url },
      { type: "http-01", url, token: "../../../../etc/passwd-----" },
      { type: "http-01", url, token },
      { type: "tls-alpn-01", url },
    ];
    const order = await newAcmeOrder(account, "odd.test");
    await answering("/authZ/", json({ status: "pending", challenges }), async () => {
      const authorization = await getAuthorization(account, order.authorizations[0]!);
      assert.deepEqual(
        authorization.challenges.map((one) => [one.type, one.token]),
        [["http-01", token]],
      );
    });
  });

  it("gives up after a bounded number of refused nonces", async () => {
    const answer = { status: 400, ...json({ type: "urn:ietf:params:acme:error:badNonce", detail: "no" }) };
    await answering("/order-plz", answer, () => assert.rejects(newAcmeOrder(account, "nonce.test"), { type: "badNonce" }));
    assert.equal(proxy.requests.filter((request) => request.path === "/order-plz").length, 33);
  });

  it("keeps at most 32 nonces, and only those that are base64url", async () => {
    await Promise.all(Array.from({ length: 60 }, (_, index) => newAcmeOrder(account, `nonces-${index}.test`)));
    assert.ok(account.session.nonces.length <= 32);
    const kept = [...account.session.nonces];
    await answering("/nonce-plz", { headers: { "replay-nonce": "not base64url!" } }, async () => {
      account.session.nonces.length = 0;
      await assert.rejects(newAcmeOrder(account, "nonce.test"), { failure: "nonsense", message: /no nonces/ });
    });
    account.session.nonces.push(...kept);
  });

  const nonsense: [string, Partial<ProxiedAnswer>, RegExp][] = [
    ["text that is not JSON", { status: 201, body: Buffer.from("<html>hello</html>") }, /not JSON/],
    ["nothing", { status: 201 }, /not JSON/],
    ["null", { status: 201, ...json(null) }, /sent an invalid order/],
    ["a list", { status: 201, ...json([]) }, /sent an invalid order/],
    ["no status", { status: 201, ...json({ authorizations: ["https://a/b"], finalize: "https://a/b" }) }, /sent an invalid order/],
    ["wrong types", { status: 201, ...json({ status: 7, authorizations: {}, finalize: [] }) }, /sent an invalid order/],
    [
      "an unknown status",
      { status: 201, ...json({ status: "maybe", authorizations: ["https://a/b"], finalize: "https://a/b" }) },
      /sent an invalid order/,
    ],
    [
      "no authorizations",
      { status: 201, ...json({ status: "pending", authorizations: [], finalize: "https://a/b" }) },
      /sent an invalid order/,
    ],
    [
      "a thousand authorizations",
      { status: 201, ...json({ status: "pending", authorizations: Array(1000).fill("https://a/b"), finalize: "https://a/b" }) },
      /sent an invalid order/,
    ],
    [
      "an http:// URL",
      { status: 201, ...json({ status: "pending", authorizations: ["http://169.254.169.254/"], finalize: "https://a/b" }) },
      /sent an invalid order/,
    ],
    ["a huge body", { status: 201, body: Buffer.alloc(5_000_000, "[") }, /more than 262144 bytes/],
    ["a redirect", { status: 302, headers: { location: "https://elsewhere.test/" } }, /302/],
  ];
  for (const [what, answer, message] of nonsense) {
    it(`reports nonsense when an order is answered with ${what}`, async () => {
      const headers = { location: "https://localhost/order/1", ...answer.headers };
      await answering("/order-plz", { ...answer, headers }, () =>
        assert.rejects(newAcmeOrder(account, "nonsense.test"), { failure: "nonsense", message }),
      );
    });
  }

  it("reports nonsense when a new order has no URL", async () => {
    const order = { status: "pending", authorizations: ["https://a/b"], finalize: "https://a/b" };
    await answering("/order-plz", { status: 201, ...json(order) }, () =>
      assert.rejects(newAcmeOrder(account, "nowhere.test"), { failure: "nonsense", message: /did not send the URL/ }),
    );
  });

  it("handles refusals that are not problem documents, and removes control characters from their texts", async () => {
    for (const body of ["", "oops", "[1]", '{"type":7}', '"text"']) {
      await answering("/order-plz", { status: 400, body: Buffer.from(body) }, () =>
        assert.rejects(newAcmeOrder(account, "bad.test"), { failure: "refused", status: 400 }),
      );
    }
    const detail = `line\r\nbreak \u001b[31m ${"long ".repeat(1000)}`;
    await answering("/order-plz", { status: 403, ...json({ detail }) }, () =>
      assert.rejects(newAcmeOrder(account, "bad.test"), (error: AcmeProblem) => {
        assert.doesNotMatch(error.message, /\p{Cc}/u);
        assert.ok(error.message.length <= 600);
        return true;
      }),
    );
  });

  const faulty: [string, (socket: Duplex) => void, string][] = [
    ["says nothing", () => {}, "unreachable"],
    ["hangs up", (socket) => socket.destroy(), "unreachable"],
    ["never ends its answer", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"), "unreachable"],
    ["cuts its answer off", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"), "unreachable"],
    ["does not speak HTTP", (socket) => socket.end("220 mail.test ESMTP\r\n"), "nonsense"],
  ];
  for (const [what, reply, failure] of faulty) {
    it(`gives up on an authority that ${what}`, async () => {
      const server = createTlsServer({ cert: pebble.tls.cert, key: pebble.tls.key }, (socket) => {
        socket.on("error", () => {}).once("data", () => reply(socket));
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      await assert.rejects(open(`https://localhost:${port}/dir`, 500), { name: "AcmeProblem", failure });
      server.close();
    });
  }

  it("trusts only the configured root certificates, and only HTTPS", async () => {
    await assert.rejects(openAcmeSession({ directoryUrl: proxy.directoryUrl, clock: Date.now }), {
      failure: "unreachable",
      message: /certificate/i,
    });
    await assert.rejects(open(proxy.directoryUrl.replace("https:", "http:")), { failure: "nonsense", message: /https/ });
    await assert.rejects(open("not an address"), { failure: "nonsense" });
  });

  it("ends at once when the process stops", async () => {
    const stop = new AbortController();
    const session = { ...account.session, signal: stop.signal };
    stop.abort(new Error("stopping"));
    const order = await newAcmeOrder(account, "stop.test");
    const { challenges } = await getAuthorization(account, order.authorizations[0]!);
    await assert.rejects(answerChallenge({ ...account, session }, challenges[0]!), { name: "AbortError" });
  });
});
