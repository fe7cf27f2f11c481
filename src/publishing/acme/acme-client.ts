import type { KeyObject } from "node:crypto";
import type { Static } from "typebox";
import { dayMs } from "../../platform/clock.ts";
import {
  AccountMessage,
  AuthorizationMessage,
  ChallengeMessage,
  describeProblem,
  OrderMessage,
  parseMessage,
  parseRetryAfter,
  PendingOrderMessage,
} from "./acme-messages.ts";
import { AcmeProblem, tryStep } from "./acme-problem.ts";
import { post, type AcmeSession, bindExternalAccount, publicJwk, type ExternalAccount } from "./acme-session.ts";
import type { HttpsAnswer } from "./transport.ts";
import { keyAuthorization, type ChallengeType, parseIssued, type IssuedCertificate, signingRequest } from "./x509.ts";

/** An account at the authority. Only its `key` needs to be saved, because `openAccount` finds the account by it. */
export type AcmeAccount = { session: AcmeSession; key: KeyObject; url: string };

/** What a new account is registered with: its contact, and the account that it belongs to outside of ACME. */
type Registration = { email?: string | undefined; external?: ExternalAccount | undefined };

const pollsMax = 40;
const pollMsFirst = 25;
const pollMsMax = 5_000;
const pollTimeoutMs = 60_000;

/**
 * Finds the account of this key, or creates it (RFC 8555 section 7.3). Agrees to the terms of service.
 *
 * @throws AcmeProblem for every failure; `refused` with type `externalAccountRequired` if there is no account yet, the authority requires a binding and
 * `registration.external` is missing
 */
export async function openAccount(session: AcmeSession, key: KeyObject, registration: Registration = {}): Promise<AcmeAccount> {
  const find = () => requestAccount(session, key, { onlyReturnExisting: true });
  return tryStep("account look-up", find, () => createAccount(session, key, registration));
}

async function createAccount(session: AcmeSession, key: KeyObject, { email, external }: Registration): Promise<AcmeAccount> {
  const { newAccount, meta } = session.directory;
  if (meta?.externalAccountRequired === true && external === undefined) throw needsBinding();
  const payload = {
    termsOfServiceAgreed: true,
    ...(external === undefined ? {} : { externalAccountBinding: bindExternalAccount(key, external, newAccount) }),
  };
  const create = (contact: object) => requestAccount(session, key, { ...payload, ...contact });
  const created =
    email === undefined
      ? create({})
      : tryStep(
          "contact",
          () => create({ contact: [`mailto:${email}`] }),
          (refusal) => withoutContact(refusal, create),
        );
  return created.catch((error: unknown) => {
    const isMissing = external === undefined && error instanceof AcmeProblem && error.type === "externalAccountRequired";
    throw isMissing ? needsBinding(error) : error;
  });
}

function withoutContact<T>(refusal: AcmeProblem, create: (contact: object) => Promise<T>): Promise<T> {
  if (refusal.type === "externalAccountRequired") throw refusal;
  return create({});
}

async function requestAccount(session: AcmeSession, key: KeyObject, payload: object): Promise<AcmeAccount> {
  const request = { url: session.directory.newAccount, payload, what: "account" };
  const answer = await post(session, { key, signer: { jwk: publicJwk(key) } }, request);
  const { status } = parseMessage(AccountMessage, "account", answer);
  if (status !== "valid")
    throw new AcmeProblem("refused", "The account at the certificate authority is no longer valid.", { type: "unauthorized" });
  return { session, key, url: location(answer, request) };
}

const needsBinding = (cause?: unknown): AcmeProblem =>
  new AcmeProblem(
    "refused",
    "The certificate authority needs an external account (ACME_EAB_KID, ACME_EAB_HMAC), and has no account of this service yet.",
    { type: "externalAccountRequired", cause },
  );

/** Returns the account with a check right before each request: if `permit` returns false, the request rejects with `NotPermitted`. */
export function withPermit(account: AcmeAccount, permit: () => boolean): AcmeAccount {
  return { ...account, session: { ...account.session, permit } };
}

/** An order for one name. Save its `url` as soon as it is known: every later step can be resumed from it. */
export type AcmeOrder = Static<typeof OrderMessage> & { authorizations: string[]; url: string; retryAt: number | null };

/**
 * Orders a certificate for `hostname` (RFC 8555 section 7.4).
 *
 * @param replaces the identifier (`ari.ts`) of the certificate that is renewed; sent only if the authority supports RFC 9773
 */
export async function newAcmeOrder(account: AcmeAccount, hostname: string, replaces?: string): Promise<AcmeOrder> {
  const payload = { identifiers: [{ type: "dns", value: hostname }] };
  if (replaces === undefined || account.session.directory.renewalInfo === undefined) return postNewOrder(account, payload);
  return tryStep(
    "replaces",
    () => postNewOrder(account, { ...payload, replaces }),
    () => postNewOrder(account, payload),
  );
}

/** Sent once: if the answer is lost, the authority may have created the order, and sending it again would create another. */
async function postNewOrder(account: AcmeAccount, payload: object): Promise<AcmeOrder> {
  const request = { url: account.session.directory.newOrder, payload, what: "order", once: true };
  const answer = await post(account.session, { key: account.key, signer: { kid: account.url } }, request);
  return parseOrder(account, answer, location(answer, request));
}

/**
 * Reads an order. After a crash, a lost answer or a wait, its status shows the next step.
 *
 * @throws AcmeProblem for every failure; `invalid` if the authority no longer has the order
 */
export async function resumeAcmeOrder(account: AcmeAccount, orderUrl: string): Promise<AcmeOrder> {
  try {
    return parseOrder(account, await signedPost(account, orderUrl, null, "order"), orderUrl);
  } catch (error) {
    // The order is gone, or belongs to an account that the authority has lost.
    const gone = error instanceof AcmeProblem && (error.status === 404 || error.type === "unauthorized");
    if (!gone) throw error;
    throw new AcmeProblem("invalid", "The certificate authority no longer has the order.", { status: error.status, cause: error });
  }
}

/** Reads an order. Returns null if it has failed or is gone: a new one is needed. @throws AcmeProblem */
export async function resumeLiveAcmeOrder(account: AcmeAccount, orderUrl: string): Promise<AcmeOrder | null> {
  const order = await resumeAcmeOrder(account, orderUrl).catch((error: unknown) => {
    if (error instanceof AcmeProblem && error.failure === "invalid") return null;
    throw error;
  });
  return order?.status === "invalid" ? null : order;
}

/** A way to prove control of the name. Call `answerChallenge` once every node serves it. */
export type AcmeChallenge = { type: ChallengeType; url: string; token: string; keyAuthorization: string };

export type AcmeAuthorization = {
  url: string;
  status: AuthorizationMessage["status"];
  challenges: AcmeChallenge[];
  retryAt: number | null;
};

/** A token becomes part of a path, so only base64url is accepted (RFC 8555 section 8.3). */
const tokenPattern = /^[\w-]{16,256}$/;

/** Reads an authorization of an order, with the challenges of supported types. @throws AcmeProblem `invalid` if it has failed */
export async function getAuthorization(account: AcmeAccount, url: string): Promise<AcmeAuthorization> {
  const answer = await signedPost(account, url, null, "authorization");
  const message = parseMessage(AuthorizationMessage, "authorization", answer);
  if (message.status !== "pending" && message.status !== "valid") throw failedAuthorization(message);
  const challenges = (message.challenges ?? []).flatMap(({ type: sent, url: challengeUrl, token }): AcmeChallenge[] => {
    const type = sent?.toLowerCase();
    if ((type !== "http-01" && type !== "tls-alpn-01") || challengeUrl === undefined || !tokenPattern.test(token ?? "")) return [];
    return [{ type, url: challengeUrl, token: token!, keyAuthorization: keyAuthorization(token!, account.key) }];
  });
  return { url, status: message.status, challenges, retryAt: retryAfter(account, answer) };
}

function failedAuthorization(message: AuthorizationMessage): AcmeProblem {
  const error = (message.challenges ?? []).find((challenge) => challenge.error !== undefined)?.error;
  const { type, text } = describeProblem(error ?? {});
  return new AcmeProblem("invalid", `The certificate authority could not check the name: ${error === undefined ? message.status : text}`, {
    type,
  });
}

/** Tells the authority to check the challenge (RFC 8555 section 7.5.1). */
export async function answerChallenge(account: AcmeAccount, challenge: AcmeChallenge): Promise<void> {
  parseMessage(ChallengeMessage, "challenge", await signedPost(account, challenge.url, {}, "challenge"));
}

/**
 * Requests the certificate (RFC 8555 section 7.4); `csr` is DER. If the answer is lost or is `orderNotReady`, reads the order, because this or an
 * earlier request may have taken effect.
 */
async function finalize(account: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<AcmeOrder> {
  try {
    if (order.finalize === undefined) throw missing(order.status, "the URL to finalize it");
    const answer = await signedPost(account, order.finalize, { csr: csr.toString("base64url") }, "finalize");
    return parseOrder(account, answer, order.url);
  } catch (error) {
    const mayHaveSucceeded = error instanceof AcmeProblem && (error.failure === "unreachable" || error.type === "orderNotReady");
    if (!mayHaveSucceeded) throw error;
    const current = await resumeAcmeOrder(account, order.url);
    if (current.status === "processing" || current.status === "valid") return current;
    throw error;
  }
}

/** Downloads the certificate of a valid order with its chain, and checks that it is for this name and key and has not expired. */
async function downloadCertificate(
  account: AcmeAccount,
  order: AcmeOrder,
  wanted: { hostname: string; key: KeyObject },
): Promise<IssuedCertificate> {
  if (order.certificate === undefined) throw missing(order.status, "the URL of its certificate");
  const accept = "application/pem-certificate-chain";
  const request = { url: order.certificate, payload: null, what: "certificate", accept };
  const answer = await post(account.session, { key: account.key, signer: { kid: account.url } }, request);
  return parseIssued(answer.body.toString("latin1"), wanted, account.session.clock());
}

const missing = (status: string, what: string): AcmeProblem =>
  new AcmeProblem("nonsense", `The certificate authority sent an invalid order: it is ${status}, but has not ${what}.`);

function parseOrder(account: AcmeAccount, answer: HttpsAnswer, url: string): AcmeOrder {
  const message = parseMessage(OrderMessage, "order", answer);
  const { authorizations = [] } = message.status === "pending" ? parseMessage(PendingOrderMessage, "order", answer) : message;
  return { ...message, authorizations, url, retryAt: retryAfter(account, answer) };
}

function signedPost(account: AcmeAccount, url: string, payload: object | null, what: string): Promise<HttpsAnswer> {
  return post(account.session, { key: account.key, signer: { kid: account.url } }, { url, payload, what });
}

/** The URL in `Location`, which may be relative to that of the request (RFC 9110 section 10.2.2). */
function location({ headers, status }: HttpsAnswer, { url: base, what }: { url: string; what: string }): string {
  const url = headers.location ? URL.parse(headers.location, base)?.href : undefined;
  if (url?.startsWith("https://") !== true || url.length > 2048) {
    throw new AcmeProblem("nonsense", `The certificate authority did not send the URL of the ${what}.`, { status });
  }
  return url;
}

const pollAgainMsMax = dayMs;

/** When to read an order or authorization again: within a day, whatever the authority says, because this only reads. */
function retryAfter({ session }: AcmeAccount, answer: HttpsAnswer): number | null {
  const now = session.clock();
  const at = parseRetryAfter(answer.headers["retry-after"], now);
  return at === null ? null : Math.min(at, now + pollAgainMsMax);
}

/** What the caller provides to complete an order. */
export type AcmeOrderWork = {
  hostname: string;
  /** The key of the certificate. Save it before the call: after a crash, an issued certificate is useless without its key. */
  key: KeyObject;
  /** The challenge type to use if the authority offers both. */
  prefer: ChallengeType;
  /** Publishes the challenge, and resolves once every node answers it. The authority is asked to check it only after that. */
  publish: (challenge: AcmeChallenge) => Promise<void>;
};

/**
 * Completes an order in any state and returns its certificate. After a crash, a lost answer or a failure other than `invalid`, get the order with
 * `resumeAcmeOrder` and call this again, which continues it. Polls for at most a minute at each step.
 *
 * @throws AcmeProblem for every failure; `unavailable` if the authority needs more time, with `retryAt` if it named a time
 */
export async function completeAcmeOrder(account: AcmeAccount, order: AcmeOrder, work: AcmeOrderWork): Promise<IssuedCertificate> {
  let current = order;
  if (current.status === "pending") {
    for (const url of current.authorizations) await prove(account, url, work);
    current = await pollOrder(account, await resumeAcmeOrder(account, order.url), (one) => one.status !== "pending");
  }
  if (current.status === "ready") current = await finalize(account, current, signingRequest(work.key, work.hostname));
  current = await pollOrder(account, current, (one) => one.status === "valid");
  // Some authorities name the certificate a moment after the order has become valid.
  if (current.certificate === undefined) current = await resumeAcmeOrder(account, order.url);
  return downloadCertificate(account, current, work);
}

async function prove(account: AcmeAccount, url: string, { prefer, publish }: AcmeOrderWork): Promise<void> {
  const authorization = await getAuthorization(account, url);
  if (authorization.status === "valid") return;
  const [challenge, other] = authorization.challenges.toSorted((a, b) => Number(b.type === prefer) - Number(a.type === prefer));
  if (challenge === undefined) {
    throw new AcmeProblem("refused", "The certificate authority offers neither http-01 nor tls-alpn-01.", { type: "unsupportedChallenge" });
  }
  const answer = async (one: AcmeChallenge): Promise<void> => {
    await publish(one);
    await answerChallenge(account, one);
  };
  await tryStep(
    "preferred challenge",
    () => answer(challenge),
    async (refusal) => {
      // The authority refuses this request if it has already checked the challenge, for example at the request of a process that then crashed.
      if ((await getAuthorization(account, url)).status === "valid") return;
      if (other === undefined) throw refusal;
      await answer(other);
    },
  );
  await poll(
    account,
    null,
    () => getAuthorization(account, url),
    (one) => one.status === "valid",
  );
}

async function pollOrder(account: AcmeAccount, order: AcmeOrder, done: (order: AcmeOrder) => boolean): Promise<AcmeOrder> {
  const settled = await poll(
    account,
    order,
    () => resumeAcmeOrder(account, order.url),
    (one) => one.status === "invalid" || done(one),
  );
  if (settled.status !== "invalid") return settled;
  // If the order itself has no error, one of its authorizations does, and `getAuthorization` throws it.
  if (settled.error === undefined) for (const url of settled.authorizations) await getAuthorization(account, url);
  const { type, text } = describeProblem(settled.error ?? {});
  throw new AcmeProblem("invalid", `The certificate authority has cancelled the order: ${text}`, { type });
}

/** Calls `read` until its result is `done`. Waits before each call: 25 ms at first, then doubling up to 5 s; longer if the authority asks for it. */
async function poll<T extends { retryAt: number | null }>(
  { session }: AcmeAccount,
  initial: T | null,
  read: () => Promise<T>,
  done: (value: T) => boolean,
): Promise<T> {
  const giveUpAt = session.clock() + pollTimeoutMs;
  let latest = initial;
  for (let polls = 0; polls < pollsMax; polls++) {
    if (latest !== null && done(latest)) return latest;
    const now = session.clock();
    const at = Math.max(latest?.retryAt ?? 0, now + Math.min(pollMsFirst * 2 ** polls, pollMsMax));
    if (at > giveUpAt) break;
    await session.wait(at - now, session.signal);
    latest = await read();
  }
  if (latest !== null && done(latest)) return latest;
  throw new AcmeProblem("unavailable", "The certificate authority has not finished yet.", { retryAt: latest?.retryAt ?? null });
}
