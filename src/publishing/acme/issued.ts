import { createPublicKey, X509Certificate, type KeyObject } from "node:crypto";
import { AcmeProblem } from "./acme-problem.ts";

/** A certificate from the authority. Times in ms since the epoch. */
export type IssuedCertificate = {
  /** The certificate, then its issuers, in the order in which they were sent; PEM. */
  chain: string;
  leaf: X509Certificate;
  notBefore: number;
  notAfter: number;
};

const chainLengthMax = 10;

/** Parses a certificate chain, and checks that it is for this name and key and expires after `now`. @throws AcmeProblem `nonsense` */
export function parseIssued(text: string, wanted: { hostname: string; key: KeyObject }, now: number): IssuedCertificate {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) throw nonsense("a private key with the certificate");
  const blocks = text.match(/-----BEGIN (?:X509 )?CERTIFICATE-----[^-]+-----END (?:X509 )?CERTIFICATE-----/g) ?? [];
  if (blocks.length > chainLengthMax) throw nonsense(`${blocks.length} certificates in a chain`);
  const certificates = blocks.map((block) => parseCertificate(block.replaceAll("X509 ", "")));
  const [leaf] = certificates;
  if (leaf === undefined) throw nonsense("an answer without a certificate");
  if (leaf.checkHost(wanted.hostname) === undefined) throw nonsense(`a certificate that is not for ${wanted.hostname}`);
  if (!leaf.publicKey.equals(createPublicKey(wanted.key))) throw nonsense("a certificate for another key");
  if (leaf.validToDate.getTime() <= now) throw nonsense("a certificate that has expired already");
  return {
    chain: certificates.map(String).join(""),
    leaf,
    notBefore: leaf.validFromDate.getTime(),
    notAfter: leaf.validToDate.getTime(),
  };
}

function parseCertificate(block: string): X509Certificate {
  try {
    return new X509Certificate(block);
  } catch (error) {
    throw nonsense("a certificate that cannot be read", error);
  }
}

const nonsense = (what: string, cause?: unknown): AcmeProblem =>
  new AcmeProblem("nonsense", `The certificate authority sent ${what}.`, { cause });
