import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { describe, it } from "node:test";
import { tlsAlpnCertificate, newPrivateKey, signingRequest, derTime } from "./x509.ts";

/** Returns how openssl, which shares no code with the service, reads `input`. */
const openssl = (words: string[], input: Buffer | string): string =>
  execFileSync("openssl", words, { input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });

const now = Date.UTC(2026, 0, 1);

describe("certificate requests and challenge certificates", () => {
  it("a request is signed by its P-256 key and names one host, however long", async () => {
    for (const hostname of ["a.io", `${"label-of-some-length.".repeat(11)}example`]) {
      const csr = signingRequest(await newPrivateKey(), hostname);
      const text = openssl(["req", "-inform", "DER", "-noout", "-text", "-verify"], csr);
      assert.match(text, /ASN1 OID: prime256v1/);
      assert.match(text, /ecdsa-with-SHA256/);
      assert.match(text, /Subject: *\n/);
      assert.equal(/X509v3 Subject Alternative Name: *\n *(.*)\n/.exec(text)?.[1], `DNS:${hostname}`);
    }
  });

  it("a tls-alpn-01 certificate carries the digest of the key authorization as a critical extension", async () => {
    const { cert, key } = await tlsAlpnCertificate("shop.test", "token.thumbprint", now);
    const text = openssl(["x509", "-noout", "-text"], cert);
    const digest = createHash("sha256").update("token.thumbprint").digest("hex");
    assert.match(text, /Version: 3/);
    assert.match(text, /1\.3\.6\.1\.5\.5\.7\.1\.31: critical/);
    assert.ok(new X509Certificate(cert).raw.toString("hex").includes(`0420${digest}`));
    assert.match(openssl(["pkey", "-noout", "-text"], key), /P-256/);
  });

  it("a tls-alpn-01 certificate is self-signed, for one name, and valid now", async () => {
    const certificate = new X509Certificate((await tlsAlpnCertificate("shop.test", "token.thumbprint", now)).cert);
    assert.equal(certificate.subjectAltName, "DNS:shop.test");
    assert.ok(certificate.verify(certificate.publicKey));
    assert.ok(certificate.validFromDate.getTime() < now && now < certificate.validToDate.getTime());
  });

  it("times are UTCTime until 2049 and GeneralizedTime after", () => {
    assert.equal(
      derTime(Date.UTC(2049, 11, 31, 23, 59, 59))
        .subarray(2)
        .toString(),
      "491231235959Z",
    );
    assert.equal(
      derTime(Date.UTC(2050, 0, 1))
        .subarray(2)
        .toString(),
      "20500101000000Z",
    );
  });
});
