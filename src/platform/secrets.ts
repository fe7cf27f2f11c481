import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/**
 * Keys for secrets that a stolen database must not reveal. The current key encrypts; earlier ones only decrypt, so that a key can be replaced.
 * Every part of the process shares one of these, so a rotation of the key file changes it in place.
 */
export type SecretsKeys = { current: SecretsKey; byId: Map<string, SecretsKey> };
type SecretsKey = { id: string; bytes: Buffer };

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** The most keys in `SECRETS_KEY` or in a key file. */
export const keysMax = 10;

/**
 * Parses `SECRETS_KEY`: 32 bytes as base64, or several such keys separated by commas, the current one first.
 *
 * @throws TypeError that does not repeat the value
 */
export function parseSecretsKeys(text: string): SecretsKeys {
  const keys = text.split(",").map((part) => parseKey(part.trim()));
  const [current] = keys;
  if (current === undefined || keys.length > keysMax) throw new TypeError(`SECRETS_KEY takes 1 to ${keysMax} keys`);
  return { current, byId: new Map(keys.map((key) => [key.id, key])) };
}

/** Generates a value for `SECRETS_KEY`. */
export function newSecretsKey(): string {
  return randomBytes(keyBytes).toString("base64");
}

/** The keys as `SECRETS_KEY` holds them. */
export function secretsKeysText({ byId }: SecretsKeys): string {
  return [...byId.values()].map(({ bytes }) => bytes.toString("base64")).join(",");
}

/** The ids of the keys, the current one first. An id reveals nothing of its key. */
export function idsOf({ byId }: SecretsKeys): string[] {
  return [...byId.keys()];
}

/** What the envelopes of a key begin with. */
export function envelopeStart(keyId: string): string {
  return `v1.${keyId}`;
}

function parseKey(text: string): SecretsKey {
  const bytes = Buffer.from(text, "base64");
  if (!/^[\w+/-]{43}=?$/.test(text) || bytes.length !== keyBytes) throw new TypeError("SECRETS_KEY has to be 32 bytes as base64");
  const id = createHash("sha256").update("petstore secrets key id").update(bytes).digest("hex").slice(0, 8);
  return { id, bytes };
}

/**
 * Encrypts with AES-256-GCM. `owner`, such as the host name of a private key, is authenticated but not stored: a secret copied to another
 * owner's row does not decrypt. The envelope is `v1.KEY_ID.NONCE.CIPHERTEXT_AND_TAG`, the last two base64url.
 */
export function encryptSecret(keys: SecretsKeys, secret: string, owner: string): string {
  const nonce = randomBytes(nonceBytes);
  const head = envelopeStart(keys.current.id);
  const cipher = createCipheriv("aes-256-gcm", keys.current.bytes, nonce).setAAD(Buffer.from(`${head}.${owner}`));
  const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${head}.${nonce.toString("base64url")}.${sealed.toString("base64url")}`;
}

/** @throws Error, which reveals neither key nor secret, if the key is unknown, the owner is another one, or any bit has changed */
export function decryptSecret(keys: SecretsKeys, envelope: string, owner: string): string {
  const [version, keyId = "", nonceText = "", sealedText = "", ...rest] = envelope.split(".");
  const nonce = Buffer.from(nonceText, "base64url");
  const sealed = Buffer.from(sealedText, "base64url");
  if (version !== "v1" || rest.length > 0 || nonce.length !== nonceBytes || sealed.length < tagBytes) {
    throw new Error("not an encrypted secret of this program");
  }
  const key = keys.byId.get(keyId);
  if (key === undefined) throw new Error(`a secret is encrypted with key ${keyId}, which SECRETS_KEY does not hold`);
  const decipher = createDecipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(`v1.${keyId}.${owner}`)).setAuthTag(sealed.subarray(-tagBytes));
  try {
    return decipher.update(sealed.subarray(0, -tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    throw new Error("a secret was changed, or belongs to another owner", { cause: error });
  }
}

/** Returns the secret encrypted with the current key: the same envelope if it is already. @throws Error as `decryptSecret` does */
export function withCurrentKey(keys: SecretsKeys, envelope: string, owner: string): string {
  if (envelope.startsWith(`${envelopeStart(keys.current.id)}.`)) return envelope;
  return encryptSecret(keys, decryptSecret(keys, envelope, owner), owner);
}
