import { createPublicKey, generateKeyPair, randomBytes, sign, type KeyObject, createHash, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import { dayMs } from "../../platform/clock.ts";
import { AcmeProblem } from "./acme-problem.ts";
import { thumbprint } from "./acme-session.ts";

const oids = {
  commonName: "2.5.4.3",
  subjectAlternativeName: "2.5.29.17",
  extensionRequest: "1.2.840.113549.1.9.14",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
};

/** The tags that requests and certificates here use (X.690 section 8). */
export const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Generates an ECDSA P-256 private key, off the main thread. */
export async function newPrivateKey(): Promise<KeyObject> {
  const { privateKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  return privateKey;
}

/**
 * A certificate signing request (RFC 2986) for one name, as DER. The subject is empty, because a common name has at most 64 characters, and a host
 * name up to 253.
 */
export function signingRequest(key: KeyObject, hostname: string): Buffer {
  const extensions = der(tags.sequence, alternativeName(hostname));
  const attribute = der(tags.sequence, derOid(oids.extensionRequest), der(tags.set, extensions));
  const version = der(tags.integer, Buffer.from([0]));
  return signed(key, der(tags.sequence, version, der(tags.sequence), publicKeyInfo(key), der(0xa0, attribute)));
}

/** A self-signed X.509 certificate (RFC 5280) for one name, as DER; `extensions` come after the one with the name. */
function selfSignedCertificate(key: KeyObject, hostname: string, valid: { fromMs: number; toMs: number }, extensions: Buffer[]): Buffer {
  const name = der(
    tags.sequence,
    der(tags.set, der(tags.sequence, derOid(oids.commonName), der(tags.utf8String, Buffer.from("petstore")))),
  );
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x3f) | 0x40; // positive, and no leading zero octet
  return signed(
    key,
    der(
      tags.sequence,
      der(0xa0, der(tags.integer, Buffer.from([2]))),
      der(tags.integer, serial),
      signatureAlgorithm(),
      name,
      der(tags.sequence, derTime(valid.fromMs), derTime(valid.toMs)),
      name,
      publicKeyInfo(key),
      der(0xa3, der(tags.sequence, alternativeName(hostname), ...extensions)),
    ),
  );
}

/** An extension of a certificate or a request (RFC 5280 section 4.1.2.9). */
function extension(oid: string, value: Buffer, { critical = false } = {}): Buffer {
  const flag = critical ? [der(0x01, Buffer.from([0xff]))] : [];
  return der(tags.sequence, derOid(oid), ...flag, der(tags.octetString, value));
}

/** Labelled base64, 64 characters a line (RFC 7468). */
function pem(label: "CERTIFICATE", bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

const alternativeName = (hostname: string): Buffer =>
  extension(oids.subjectAlternativeName, der(tags.sequence, der(0x82, Buffer.from(hostname, "ascii"))));

const signatureAlgorithm = (): Buffer => der(tags.sequence, derOid(oids.ecdsaWithSha256));

const publicKeyInfo = (key: KeyObject): Buffer => createPublicKey(key).export({ format: "der", type: "spki" });

function signed(key: KeyObject, body: Buffer): Buffer {
  return der(tags.sequence, body, signatureAlgorithm(), der(tags.bitString, Buffer.from([0]), sign("sha256", body, key)));
}

/** Encodes one value: tag, length, content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), derLength(body.length), body]);
}

function derLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length > 0xffff) throw new RangeError("the DER value is too long");
  return length <= 0xff ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length & 0xff]);
}

/** Encodes an object identifier, given in dotted form. */
export function derOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(tags.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** Encodes a time as RFC 5280 section 4.1.2.5 requires: UTCTime until 2049, GeneralizedTime after. */
export function derTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+Z$/g, "");
  return Number(digits.slice(0, 4)) < 2050
    ? der(tags.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : der(tags.generalizedTime, Buffer.from(`${digits}Z`));
}

export type DerValue = { tag: number; content: Buffer };

/** Decodes the top-level values in `bytes`, in order. @throws RangeError if one is truncated */
export function derValues(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
    if (lengthBytes > 3 || short === 0x80) throw new RangeError("a DER length that is not supported");
    const length = lengthBytes === 0 ? short : bytes.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    if (start + length > bytes.length) throw new RangeError("a DER value is cut off");
    values.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return values;
}

/** The challenge types that the edge can answer. */
export type ChallengeType = "http-01" | "tls-alpn-01";

const acmeIdentifier = "1.3.6.1.5.5.7.1.31";

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
