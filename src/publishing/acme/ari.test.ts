import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startAcmeProxy, type AcmeProxy } from "../../../test/support/acme-proxy.ts";
import { startPebble, type Pebble } from "../../../test/support/pebble.ts";
import { closeAcmeSession, openAcmeSession, type AcmeSession } from "./acme-session.ts";
import { renewalIdentifier, renewalInfo } from "./ari.ts";

const minuteMs = 60_000;
const now = Date.UTC(2026, 0, 1);

describe("the renewal identifier", () => {
  const folder = mkdtempSync(join(tmpdir(), "ari-"));
  after(() => rmSync(folder, { recursive: true }));
  const openssl = (...words: string[]): string =>
    execFileSync("openssl", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

  it("is the authority's key identifier and the serial with its leading zero (RFC 9773 section 4.1)", () => {
    openssl("req", "-x509", ...newKey, "-subj", "/CN=CA", "-keyout", "ca.key", "-out", "ca.pem");
    const serial = ["-set_serial", "0x87654321", "-addext", "authorityKeyIdentifier=keyid"];
    openssl(
      "req",
      "-x509",
      ...newKey,
      "-subj",
      "/CN=leaf",
      ...serial,
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-keyout",
      "leaf.key",
      "-out",
      "leaf.pem",
    );
    const keyId = /Authority Key Identifier: *\n *(?:keyid:)?([\dA-F:]+)/.exec(openssl("x509", "-in", "leaf.pem", "-noout", "-text"))?.[1];
    const expected = `${Buffer.from(keyId!.replaceAll(":", ""), "hex").toString("base64url")}.AIdlQyE`;
    assert.equal(renewalIdentifier(new X509Certificate(readFileSync(join(folder, "leaf.pem")))), expected);
  });

  it("is null for a certificate that names no authority key", () => {
    openssl("req", "-x509", ...newKey, "-subj", "/CN=x", "-addext", "authorityKeyIdentifier=none", "-keyout", "x.key", "-out", "x.pem");
    assert.equal(renewalIdentifier(new X509Certificate(readFileSync(join(folder, "x.pem")))), null);
  });
});

describe("renewal information", () => {
  let pebble: Pebble;
  let proxy: AcmeProxy;
  let session: AcmeSession;
  before(async () => {
    pebble = await startPebble({ dns: "127.0.0.1:9", httpPort: 9, tlsPort: 9 });
    proxy = await startAcmeProxy(pebble);
    proxy.intercept = {
      after: (request, answer) => {
        if (request.path !== "/dir") return answer;
        const directory = { ...(JSON.parse(answer.body.toString()) as object), renewalInfo: proxy.directoryUrl.replace("/dir", "/ari") };
        return { ...answer, body: Buffer.from(JSON.stringify(directory)) };
      },
    };
    session = await openAcmeSession({ directoryUrl: proxy.directoryUrl, ca: pebble.ca, clock: () => now });
  });
  after(async () => {
    closeAcmeSession(session);
    await proxy.close();
    await pebble.stop();
  });

  function answering(body: unknown, retryAfter?: string): void {
    const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    proxy.intercept = {
      before: ({ path }) => (path === "/ari/key.serial" ? { status: 200, headers, body: Buffer.from(JSON.stringify(body)) } : undefined),
    };
  }

  it("is requested without a signature, and contains the window and the time of the next request", async () => {
    answering({ suggestedWindow: { start: "2026-02-01T00:00:00Z", end: "2026-02-03T00:00:00Z" } }, "3600");
    assert.deepEqual(await renewalInfo(session, "key.serial"), {
      start: Date.UTC(2026, 1, 1),
      end: Date.UTC(2026, 1, 3),
      askAgainAt: now + 3_600_000,
    });
    assert.deepEqual(proxy.requests.at(-1), { method: "GET", path: "/ari/key.serial", payload: null });
  });

  it("is requested again after a minute at the earliest and a day at the latest, and after 6 hours by default", async () => {
    for (const [retryAfter, expected] of [
      ["0", minuteMs],
      ["999999999", 24 * 60 * minuteMs],
      [undefined, 6 * 60 * minuteMs],
      ["soon", 6 * 60 * minuteMs],
    ] as const) {
      answering({ suggestedWindow: { start: "2026-02-01T00:00:00Z", end: "2026-02-03T00:00:00Z" } }, retryAfter);
      assert.equal((await renewalInfo(session, "key.serial"))?.askAgainAt, now + expected, `Retry-After: ${retryAfter}`);
    }
  });

  it("is nonsense when its window ends before it starts, or is not a window", async () => {
    for (const suggestedWindow of [
      { start: "2026-02-03T00:00:00Z", end: "2026-02-01T00:00:00Z" },
      { start: "yesterday", end: "tomorrow" },
      {},
      null,
    ]) {
      answering({ suggestedWindow });
      await assert.rejects(renewalInfo(session, "key.serial"), { failure: "nonsense" });
    }
  });

  it("is null if the authority does not offer it", async () => {
    const { renewalInfo: _, ...directory } = session.directory;
    assert.equal(await renewalInfo({ ...session, directory }, "key.serial"), null);
  });
});
