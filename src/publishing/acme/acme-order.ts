import type { KeyObject } from "node:crypto";
import {
  answerChallenge,
  downloadCertificate,
  finalize,
  getAuthorization,
  resumeAcmeOrder,
  type AcmeAccount,
  type AcmeChallenge,
  type AcmeOrder,
} from "./acme-client.ts";
import { AcmeProblem } from "./acme-problem.ts";
import { describeProblem } from "./acme-messages.ts";
import type { ChallengeType } from "./challenges.ts";
import { signingRequest } from "./csr.ts";
import { tryStep } from "./optional-steps.ts";
import type { IssuedCertificate } from "./issued.ts";

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

const pollsMax = 40;
const pollMsFirst = 25;
const pollMsMax = 5_000;
const pollTimeoutMs = 60_000;

/**
 * Completes an order in any state and returns its certificate. After a crash, a lost answer or a failure other than `invalid`, call this again
 * with `resumeAcmeOrder(url)` to continue the same order. Waits at most a minute at each step.
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
