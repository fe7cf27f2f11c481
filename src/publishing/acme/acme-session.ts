import { type KeyObject, createHash, createHmac, createPublicKey, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import { Directory, parseMessage, problemOf } from "./acme-messages.ts";
import { AcmeProblem } from "./acme-problem.ts";
import { openTransport, type HttpsAnswer, type HttpsRequest, type Transport, type TransportSettings } from "./transport.ts";

/** Waits; rejects when the signal aborts. */
type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export type AcmeSessionSettings = TransportSettings & {
  /** `ACME_DIRECTORY_URL`. */
  directoryUrl: string;
  clock: Clock;
  wait?: Wait | undefined;
  /** Aborts every request and wait of the session, for example when the process stops. */
  signal?: AbortSignal | undefined;
};

/** A session with one authority: its directory, its unused nonces, and the connections. */
export type AcmeSession = {
  directory: Directory;
  nonces: string[];
  transport: Transport;
  clock: Clock;
  wait: Wait;
  signal: AbortSignal | undefined;
  /** Called right before each request is sent. If it returns false, the request rejects with `NotPermitted`. */
  permit?: () => boolean;
};

const noncesMax = 32;
const nonceRejectionsMax = 32;

/** Reads the directory (RFC 8555 section 7.1.1). The session keeps connections open until `closeAcmeSession`. */
export async function openAcmeSession(settings: AcmeSessionSettings): Promise<AcmeSession> {
  const transport = openTransport(settings);
  const { clock, signal } = settings;
  const wait: Wait = settings.wait ?? ((ms, aborted) => sleep(ms, undefined, aborted === undefined ? {} : { signal: aborted }));
  try {
    const answer = await transport.exchange({ method: "GET", url: settings.directoryUrl, signal });
    if (answer.status !== 200) throw problemOf(answer, "directory", clock());
    return { directory: parseMessage(Directory, "directory", answer), nonces: [], transport, clock, wait, signal };
  } catch (error) {
    transport.close();
    throw error;
  }
}

export function closeAcmeSession(session: AcmeSession): void {
  session.transport.close();
}

/** An account's key, and how a request names the account: by its URL (`kid`) or, before that is known, by its public key (`jwk`). */
export type Signature = { key: KeyObject; signer: { kid: string } | { jwk: Jwk } };

export type Post = {
  url: string;
  payload: object | null;
  what: string;
  accept?: string;
  /** Not to be sent again if the connection breaks. */
  once?: boolean;
};

/**
 * Sends a signed request and returns the answer (RFC 8555 section 6.2). If the authority refuses the nonce, signs the request again with a new
 * one (section 6.5), at most 32 times.
 *
 * @throws AcmeProblem if the answer is not a success
 */
export async function post(
  session: AcmeSession,
  { key, signer }: Signature,
  { url, payload, what, accept, once }: Post,
): Promise<HttpsAnswer> {
  for (let rejections = 0; ; rejections++) {
    const nonce = session.nonces.pop() ?? (await freshNonce(session));
    const body = signRequest(key, signer, { url, nonce, payload });
    const answer = await exchange(session, {
      method: "POST",
      url,
      body,
      ...(accept === undefined ? {} : { accept }),
      ...(once === undefined ? {} : { once }),
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const problem = problemOf(answer, what, session.clock());
    if (problem.type !== "badNonce" || rejections === nonceRejectionsMax) throw problem;
  }
}

/** Sends an unsigned GET request. @throws AcmeProblem */
export async function get(session: AcmeSession, url: string, what: string): Promise<HttpsAnswer> {
  const answer = await exchange(session, { method: "GET", url });
  if (answer.status !== 200) throw problemOf(answer, what, session.clock());
  return answer;
}

async function freshNonce(session: AcmeSession): Promise<string> {
  const answer = await exchange(session, { method: "HEAD", url: session.directory.newNonce });
  const nonce = session.nonces.pop();
  if (nonce !== undefined) return nonce;
  if (answer.status >= 400) throw problemOf(answer, "new nonce", session.clock());
  throw new AcmeProblem("nonsense", "The certificate authority sends no nonces.", { status: answer.status });
}

/**
 * Sends a request, and keeps the answer's nonce if it is base64url (RFC 8555 section 6.5.1). Drops all but the latest 32 nonces, because the oldest
 * are the most likely to be stale.
 */
async function exchange(session: AcmeSession, request: HttpsRequest): Promise<HttpsAnswer> {
  const answer = await session.transport.exchange({ ...request, signal: session.signal, permit: session.permit });
  const nonce = answer.headers["replay-nonce"];
  if (typeof nonce === "string" && /^[\w-]{1,512}$/.test(nonce)) session.nonces.push(nonce);
  if (session.nonces.length > noncesMax) session.nonces.shift();
  return answer;
}

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
