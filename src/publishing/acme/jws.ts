import { createHash, createHmac, createPublicKey, sign, type KeyObject } from "node:crypto";

/** A P-256 public key, with its members in the order in which RFC 7638 hashes them. */
export type Jwk = { crv: "P-256"; kty: "EC"; x: string; y: string };

/** @throws TypeError if the key is not a P-256 key */
export function publicJwk(key: KeyObject): Jwk {
  const { crv, kty, x, y } = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) throw new TypeError("an account key has to be ECDSA P-256");
  return { crv, kty, x, y };
}

/** The thumbprint of a public key (RFC 7638). */
export function thumbprint(key: KeyObject): string {
  return createHash("sha256")
    .update(JSON.stringify(publicJwk(key)))
    .digest("base64url");
}

type Signer = { jwk: Jwk } | { kid: string };

/** A signed request (RFC 8555 section 6.2): flattened JWS, ES256. `payload` null is a POST-as-GET (section 6.3). */
export function signRequest(key: KeyObject, signer: Signer, request: { url: string; nonce: string; payload: object | null }): string {
  const header = base64url({ alg: "ES256", ...signer, nonce: request.nonce, url: request.url });
  const payload = request.payload === null ? "" : base64url(request.payload);
  const signature = sign("sha256", Buffer.from(`${header}.${payload}`), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
  return JSON.stringify({ protected: header, payload, signature });
}

/** The credentials that bind a new account to one that the operator already has at the authority; `hmacKey` is base64url. */
export type ExternalAccount = { keyId: string; hmacKey: string };

/** The binding of the account's key to an external account (RFC 8555 section 7.3.4). */
export function bindExternalAccount(key: KeyObject, external: ExternalAccount, url: string): object {
  const header = base64url({ alg: "HS256", kid: external.keyId, url });
  const payload = base64url(publicJwk(key));
  const mac = createHmac("sha256", Buffer.from(external.hmacKey, "base64url")).update(`${header}.${payload}`);
  return { protected: header, payload, signature: mac.digest("base64url") };
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
