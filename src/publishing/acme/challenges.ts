import { createHash, type KeyObject } from "node:crypto";
import { extension, newPrivateKey, pem, selfSignedCertificate } from "./csr.ts";
import { der, tags } from "./der.ts";
import { thumbprint } from "./jws.ts";

/** The challenge types that the edge can answer. */
export type ChallengeType = "http-01" | "tls-alpn-01";

const acmeIdentifier = "1.3.6.1.5.5.7.1.31";
const dayMs = 86_400_000;

/** The key authorization of a challenge (RFC 8555 section 8.1). */
export function keyAuthorization(token: string, accountKey: KeyObject): string {
  return `${token}.${thumbprint(accountKey)}`;
}

/**
 * The certificate and key, both PEM, that answer a tls-alpn-01 challenge for `hostname` (RFC 8737 section 3). Valid from a day before `now` to six
 * days after.
 */
export async function tlsAlpnCertificate(hostname: string, authorization: string, now: number): Promise<{ cert: string; key: string }> {
  const key = await newPrivateKey();
  const digest = createHash("sha256").update(authorization).digest();
  const proof = extension(acmeIdentifier, der(tags.octetString, digest), { critical: true });
  const certificate = selfSignedCertificate(key, hostname, { fromMs: now - dayMs, toMs: now + 6 * dayMs }, [proof]);
  return { cert: pem("CERTIFICATE", certificate), key: key.export({ format: "pem", type: "pkcs8" }) };
}
