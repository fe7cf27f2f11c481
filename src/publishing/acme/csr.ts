import { createPublicKey, generateKeyPair, randomBytes, sign, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { der, derOid, derTime, tags } from "./der.ts";

const oids = {
  commonName: "2.5.4.3",
  subjectAlternativeName: "2.5.29.17",
  extensionRequest: "1.2.840.113549.1.9.14",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
};

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
export function selfSignedCertificate(
  key: KeyObject,
  hostname: string,
  valid: { fromMs: number; toMs: number },
  extensions: Buffer[],
): Buffer {
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
export function extension(oid: string, value: Buffer, { critical = false } = {}): Buffer {
  const flag = critical ? [der(0x01, Buffer.from([0xff]))] : [];
  return der(tags.sequence, derOid(oid), ...flag, der(tags.octetString, value));
}

/** Labelled base64, 64 characters a line (RFC 7468). */
export function pem(label: "CERTIFICATE", bytes: Buffer): string {
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
