import type { KeyObject } from "node:crypto";
import type { Static } from "typebox";
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
import { AcmeProblem } from "./acme-problem.ts";
import { post, type AcmeSession } from "./acme-session.ts";
import { keyAuthorization, type ChallengeType } from "./challenges.ts";
import { parseIssued, type IssuedCertificate } from "./issued.ts";
import { bindExternalAccount, publicJwk, type ExternalAccount } from "./jws.ts";
import type { HttpsAnswer } from "./transport.ts";

/** An account at the authority. Only its `key` needs to be saved, because `openAccount` finds the account by it. */
export type AcmeAccount = { session: AcmeSession; key: KeyObject; url: string };

export type AcmeAccountOptions = { email?: string | undefined; external?: ExternalAccount | undefined };

/**
 * Creates the account of this key, or finds it if it exists (RFC 8555 section 7.3). Agrees to the terms of service.
 *
 * @throws AcmeProblem for every failure; `refused` with type `externalAccountRequired` if the authority requires a binding and `options.external` is
 * missing
 */
export async function openAccount(session: AcmeSession, key: KeyObject, options: AcmeAccountOptions = {}): Promise<AcmeAccount> {
  const { newAccount, meta } = session.directory;
  const ask = (payload: object): Promise<HttpsAnswer> =>
    post(session, { key, signer: { jwk: publicJwk(key) } }, { url: newAccount, payload, what: "account" });
  const answer =
    meta?.externalAccountRequired === true && options.external === undefined
      ? await ask({ onlyReturnExisting: true }).catch(needsBinding)
      : await ask({
          termsOfServiceAgreed: true,
          ...(options.email === undefined ? {} : { contact: [`mailto:${options.email}`] }),
          ...(options.external === undefined ? {} : { externalAccountBinding: bindExternalAccount(key, options.external, newAccount) }),
        });
  const { status } = parseMessage(AccountMessage, "account", answer);
  if (status !== "valid")
    throw new AcmeProblem("refused", "The account at the certificate authority is no longer valid.", { type: "unauthorized" });
  return { session, key, url: location(answer, "account") };
}

/** An account that exists needs no binding (RFC 8555 section 7.3.1). */
function needsBinding(error: unknown): never {
  if (!(error instanceof AcmeProblem) || error.failure !== "refused") throw error;
  throw new AcmeProblem(
    "refused",
    "The certificate authority needs an external account (ACME_EAB_KID, ACME_EAB_HMAC), and has no account of this service yet.",
    { type: "externalAccountRequired", cause: error },
  );
}

/** Returns the account with a check right before each request: if `permit` returns false, the request rejects with `NotPermitted`. */
export function withPermit(account: AcmeAccount, permit: () => boolean): AcmeAccount {
  return { ...account, session: { ...account.session, permit } };
}

/** An order for one name. Save its `url` as soon as it is known: every later step can be resumed from it. */
export type AcmeOrder = Static<typeof OrderMessage> & { authorizations: string[]; url: string; retryAt: number | null };

export type OrderOptions = {
  /** The identifier (`ari.ts`) of the certificate that is renewed; sent only if the authority supports RFC 9773. */
  replaces?: string | undefined;
};

/** Orders a certificate for `hostname` (RFC 8555 section 7.4). */
export async function newAcmeOrder(account: AcmeAccount, hostname: string, options: OrderOptions = {}): Promise<AcmeOrder> {
  const { directory } = account.session;
  const replaces = directory.renewalInfo === undefined ? undefined : options.replaces;
  const payload = { identifiers: [{ type: "dns", value: hostname }] };
  try {
    return await postNewOrder(account, { ...payload, replaces });
  } catch (error) {
    // `replaces` is optional (RFC 9773 section 5): the authority may not know it, or the certificate, or may have replaced it already.
    if (replaces !== undefined && error instanceof AcmeProblem && isRefusal(error)) return postNewOrder(account, payload);
    throw error;
  }
}

/** Whether the authority refused a request because of its content, and not because of the account or the number of requests. */
function isRefusal({ failure, type, status }: AcmeProblem): boolean {
  return (failure === "refused" && type !== "accountDoesNotExist" && type !== "unauthorized") || status === 500 || status === 501;
}

async function postNewOrder(account: AcmeAccount, payload: object): Promise<AcmeOrder> {
  const answer = await signedPost(account, account.session.directory.newOrder, payload, "order");
  return parseOrder(account, answer, location(answer, "order"));
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
export async function finalize(account: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<AcmeOrder> {
  try {
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
export async function downloadCertificate(
  account: AcmeAccount,
  order: AcmeOrder,
  wanted: { hostname: string; key: KeyObject },
): Promise<IssuedCertificate> {
  if (order.certificate === undefined)
    throw new AcmeProblem("nonsense", "The certificate authority sent a valid order without a certificate.");
  const accept = "application/pem-certificate-chain";
  const request = { url: order.certificate, payload: null, what: "certificate", accept };
  const answer = await post(account.session, { key: account.key, signer: { kid: account.url } }, request);
  return parseIssued(answer.body.toString("latin1"), wanted, account.session.clock());
}

function parseOrder(account: AcmeAccount, answer: HttpsAnswer, url: string): AcmeOrder {
  const message = parseMessage(OrderMessage, "order", answer);
  const { authorizations = [] } = message.status === "pending" ? parseMessage(PendingOrderMessage, "order", answer) : message;
  return { ...message, authorizations, url, retryAt: retryAfter(account, answer) };
}

function signedPost(account: AcmeAccount, url: string, payload: object | null, what: string): Promise<HttpsAnswer> {
  return post(account.session, { key: account.key, signer: { kid: account.url } }, { url, payload, what });
}

function location(answer: HttpsAnswer, what: string): string {
  const url = answer.headers.location;
  if (url === undefined || !/^https:\/\//i.test(url) || url.length > 2048) {
    throw new AcmeProblem("nonsense", `The certificate authority did not send the URL of the ${what}.`, { status: answer.status });
  }
  return url;
}

const retryAfter = (account: AcmeAccount, answer: HttpsAnswer): number | null =>
  parseRetryAfter(answer.headers["retry-after"], account.session.clock());
