import type { Database, Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import { findAccount } from "../accounts/accounts.store.ts";
import { shownStanding, signedOut } from "./answers.ts";
import { anySalt, samePassword, type PasswordHasher } from "./passwords.ts";
import { emailKey } from "./people.ts";
import { findCandidates, findMember, findPassword, redeemLink } from "./people.store.ts";
import { beginSession, type Visitor } from "./sessions.store.ts";
import { requireAttempt, type SignInThrottle } from "./throttle.ts";

export type SignInParts = { db: Database; hasher: PasswordHasher; throttle: SignInThrottle };
/** Who has signed in; the token of the new session is for the cookie, and known here only. */
export type Entered = { accountId: number; memberId: number; token: string };
/** Who comes: from where, and with which session. */
export type Comer = Visitor & { earlier: { accountId: number; sessionId: number } | undefined; now: number };

/**
 * Proves who somebody is by email and password. It takes one computation whether the email is known nowhere, in one
 * account or in several, so that the time tells nothing. Where it fits in several, the one used last is meant.
 *
 * @throws Problem `unauthorized`; `rate_limit_exceeded` after too many attempts
 */
export async function signIn(
  { db, hasher, throttle }: SignInParts,
  { email, password, accountId }: { email: string; password: string; accountId?: number | undefined },
  comer: Comer,
): Promise<Entered> {
  const key = emailKey(email);
  requireAttempt(throttle, comer.address, key, comer.now);
  const candidates = await findCandidates(db, email);
  const given = await hasher.hash(password, candidates[0]?.salt ?? anySalt());
  const fitting = candidates.filter((candidate) => samePassword(given, candidate.password));
  const who = fitting.find((candidate) => accountId === undefined || candidate.accountId === accountId);
  if (!who) throw new Problem("unauthorized", "The email or the password is wrong.");
  throttle.succeeded(key);
  return db.write(async (tx) => {
    // Between the look and this moment the password may have been changed, or its owner removed.
    const current = await findPassword(tx, who.accountId, who.memberId);
    if (!samePassword(given, current?.password ?? null)) throw new Problem("unauthorized", "The email or the password is wrong.");
    return enter(tx, who, comer);
  });
}

/**
 * Uses up a sign-in link.
 *
 * @throws Problem `unauthorized` for one that is unknown, used or over; `rate_limit_exceeded` after too many attempts
 */
export async function signInByLink({ db, throttle }: SignInParts, linkToken: string, comer: Comer): Promise<Entered> {
  requireAttempt(throttle, comer.address, undefined, comer.now);
  return db.write(async (tx) => {
    const who = await redeemLink(tx, linkToken, comer.now);
    if (!who) throw new Problem("unauthorized", "This sign-in link was used, or is over: ask for a new one.");
    return enter(tx, who, comer);
  });
}

async function enter(tx: Transaction, { accountId, memberId }: Omit<Entered, "token">, comer: Comer): Promise<Entered> {
  return { accountId, memberId, token: await beginSession(tx, { accountId, memberId }, comer, comer.earlier, comer.now) };
}

/** Who somebody is, and where. @throws Problem `unauthorized` where that is gone */
export async function standingOf(db: Database, accountId: number, memberId: number) {
  const [member, account] = await Promise.all([findMember(db, accountId, memberId), findAccount(db, accountId)]);
  if (!member || !account) throw signedOut();
  return shownStanding(member, account);
}
