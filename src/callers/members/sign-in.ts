import { addressName } from "../../platform/addresses.ts";
import { openAllowance } from "../../platform/allowance.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import type { SecretsKeys } from "../../platform/secrets.ts";
import { findAccount } from "../accounts/accounts.store.ts";
import {
  claimPending,
  type CodeVerdict,
  findFactors,
  findPending,
  hasFactor,
  insertPending,
  type MemberRef,
  useCode,
} from "./factors.store.ts";
import { type Candidate, findCandidates, findMember, findPassword, redeemLink } from "./members.store.ts";
import { emailKey } from "./members.ts";
import { listPasskeys } from "./passkeys.store.ts";
import { newSalt, type PasswordHasher, samePassword } from "./passwords.ts";
import { currentUserResponse, signedOut } from "./responses.ts";
import { endSession, findSessions, insertSession, type SessionClient } from "./sessions.store.ts";
import { browserSessionsMax } from "./sessions.ts";

export type SignInParts = { db: Database; hasher: PasswordHasher; throttle: SignInThrottle; secrets: SecretsKeys };
/** A new session, with the tokens for the cookie: its own first, then those of other members in the browser. The database stores hashes. */
export type NewSession = { accountId: number; memberId: number; tokens: string[] };
/** A sign-in that waits for a second factor. `pending` is the token for the cookie; the database stores its hash. */
export type PendingSignIn = { pending: string; secondFactors: ("app" | "passkey" | "recoveryCode")[] };
/** The client of a sign-in attempt, with the tokens of its browser's sessions. `now` in ms since the Unix epoch. */
export type SignInClient = SessionClient & { tokens: readonly string[]; now: number };

/** The fewest password computations of a sign-in, so that its duration does not reveal whether the email is known. */
const computationsMin = 2;

/**
 * Starts a session for an email and a password, or the second step if the member has a second factor. If members of several
 * accounts have this email and password, signs in the one who signed in last. Counts an attempt for each member with this email, per
 * address; a success clears the counts of those whose password matched. The route has already counted the address alone.
 *
 * @throws Problem `unauthorized`; `rate_limit_exceeded` after too many attempts
 */
export async function signIn(
  parts: SignInParts,
  given: { email: string; password: string; accountId?: number | undefined },
  client: SignInClient,
): Promise<NewSession | PendingSignIn> {
  const { db, hasher, throttle } = parts;
  const candidates = await openCandidates(parts, given, client);
  const matches: Match[] = [];
  for (const candidate of candidates) {
    const hash = await hasher.hash(given.password, candidate.salt, { address: client.address });
    if (samePassword(hash, candidate.password)) matches.push({ candidate, hash });
  }
  for (let made = candidates.length; made < computationsMin; made++)
    await hasher.hash(given.password, newSalt(), { address: client.address });

  const [first] = matches.toSorted((a, b) => b.candidate.signedInAt - a.candidate.signedInAt);
  if (!first) throw wrongCredentials();
  const { candidate, hash } = first;
  const begun = await db.write(async (tx) => {
    // Since it was read, the password may have changed, or the member may have been removed.
    const current = await findPassword(tx, candidate.accountId, candidate.memberId);
    if (!samePassword(hash, current?.password ?? null)) throw wrongCredentials();
    return startSessionOrPending(tx, candidate, client);
  });
  // A sign-in that waits for its second step is not a success yet.
  if ("tokens" in begun) for (const fit of matches) throttle.forget(subjectOf(fit.candidate), client.address);
  return begun;
}

type Match = { candidate: Candidate; hash: string };

/** Returns the members with this email who have attempts left from this address, and counts an attempt for each. */
async function openCandidates(
  { db, throttle }: SignInParts,
  { email, accountId }: { email: string; accountId?: number | undefined },
  { address, now }: SignInClient,
): Promise<Candidate[]> {
  const candidates = await findCandidates(db, email, accountId);
  if (candidates.length === 0) throttle.requireSubjects([{ kind: "unknown", email: emailKey(email), accountId }], address, now);
  else {
    const open = new Set(throttle.requireSubjects(candidates.map(subjectOf), address, now).map(({ memberId }) => memberId));
    return candidates.filter(({ memberId }) => open.has(memberId));
  }
  return [];
}

function subjectOf({ accountId, memberId }: Candidate) {
  return { kind: "member", accountId, memberId } as const satisfies Subject;
}

function wrongCredentials(): Problem {
  return new Problem("unauthorized", "The email or the password is wrong.");
}

/**
 * Checks the password of a signed-in member. Counts attempts as a sign-in does, so that a thief of the session cannot guess the
 * password and take over the account.
 *
 * @param given `field` is the body's field with the password, which a refusal names
 * @throws Problem `invalid_request` if the password is wrong or missing; `rate_limit_exceeded` after too many attempts
 */
export async function requirePassword(
  { hasher, throttle }: SignInParts,
  member: { accountId: number; memberId: number; salt: string; password: string },
  given: { field: string; password: string | undefined; address: string; now: number },
): Promise<void> {
  const { field, password, address, now } = given;
  if (password === undefined) throw refusedField(field, "is required");
  const subject = { kind: "password", accountId: member.accountId, memberId: member.memberId } as const;
  throttle.requireAddress(address, now);
  throttle.requireSubjects([subject], address, now);
  if (!samePassword(await hasher.hash(password, member.salt, member), member.password)) throw refusedField(field, "is wrong");
  throttle.forget(subject, address);
}

/** The refusal of one field of the body. */
export function refusedField(field: string, message: string): Problem {
  return invalidAt(`body.${field}`, message, `${field} ${message}.`);
}

/**
 * Uses a sign-in link and starts a session. The route has already counted the address.
 *
 * @throws Problem `unauthorized` for a link that is unknown, used or expired
 */
export async function signInByLink({ db }: SignInParts, linkToken: string, client: SignInClient): Promise<NewSession | PendingSignIn> {
  return db.write(async (tx) => {
    const member = await redeemLink(tx, linkToken, client.now);
    if (!member) throw new Problem("unauthorized", "This sign-in link was used or has expired. Ask for a new one.");
    return startSessionOrPending(tx, member, client);
  });
}

/**
 * Completes the second step of a sign-in with a code of the authenticator app or a recovery code. Counts attempts for each member and
 * address, separately from those with the password. The route has already counted the address alone.
 *
 * @param token from the browser's cookie
 * @throws Problem `unauthorized` if the first step is missing or too old; `invalid_request` for a wrong or used code;
 *   `rate_limit_exceeded` after too many attempts
 */
export async function finishSignIn(parts: SignInParts, token: string | undefined, code: string, client: SignInClient): Promise<NewSession> {
  const { db, throttle, secrets } = parts;
  const { address, now } = client;
  const member = token === undefined ? undefined : await findPending(db, token, now);
  if (token === undefined || !member) throw tooLate();
  const attempt = { kind: "code", ...member } as const;
  throttle.requireSubjects([attempt], address, now);
  const done = await db.write(async (tx) => {
    const verdict = await useCode(tx, member, code, secrets, now);
    if (verdict !== "right") return verdict;
    if (!(await claimPending(tx, token, now))) throw tooLate();
    return startSession(tx, member, client);
  });
  if (typeof done === "string" || "blockedUntil" in done) throw refusedCode(done, now);
  throttle.forget(attempt, address);
  throttle.forget({ ...attempt, kind: "member" }, address);
  return done;
}

function tooLate(): Problem {
  return new Problem("unauthorized", "The sign-in took too long, or began in another browser. Start again.");
}

/** The refusal of a code. */
export function refusedCode(verdict: Exclude<CodeVerdict, "right">, now: number): Problem {
  if (typeof verdict === "string") return refusedField("code", "is wrong or was used already");
  const seconds = Math.ceil((verdict.blockedUntil - now) / 1_000);
  const message = `Too many wrong codes of the authenticator app. Use a recovery code, or try again in ${seconds} seconds.`;
  return new Problem("rate_limit_exceeded", message, { headers: { "Retry-After": `${seconds}` } });
}

async function startSessionOrPending(tx: Transaction, member: MemberRef, client: SignInClient): Promise<NewSession | PendingSignIn> {
  if (!(await hasFactor(tx, member))) return startSession(tx, member, client);
  const { app } = await findFactors(tx, member);
  const passkeys = await listPasskeys(tx, member);
  const secondFactors = [...(app ? ["app" as const] : []), ...(passkeys.length > 0 ? ["passkey" as const] : []), "recoveryCode" as const];
  return { pending: await insertPending(tx, member, client.now), secondFactors };
}

/**
 * Starts a session for a member who has completed all steps of the sign-in. Ends the member's earlier session in this browser, so
 * that somebody who planted or saw its cookie gains nothing. Keeps the sessions of other members (decision 0088).
 *
 * @throws Problem `invalid_request` if the browser has as many sessions as it may
 */
export async function startSession(tx: Transaction, { accountId, memberId }: MemberRef, client: SignInClient): Promise<NewSession> {
  const sessions = await findSessions(tx, client.tokens, client.now);
  const others = sessions.filter((session) => session.memberId !== memberId);
  if (others.length >= browserSessionsMax) {
    throw new Problem(
      "invalid_request",
      `This browser is signed in to ${browserSessionsMax} accounts, the most that it can be: sign out of one first.`,
    );
  }
  for (const own of sessions.filter((session) => session.memberId === memberId)) await endSession(tx, accountId, own.sessionId);
  const token = await insertSession(tx, { accountId, memberId }, client, client.now);
  return { accountId, memberId, tokens: [token, ...others.map((other) => other.token)] };
}

/** Returns the signed-in member and the account. @throws Problem `unauthorized` if either was deleted */
export async function currentUser(db: Database, accountId: number, memberId: number) {
  const [member, account] = await Promise.all([findMember(db, accountId, memberId), findAccount(db, accountId)]);
  if (!member || !account) throw signedOut();
  return currentUserResponse(member, account);
}

/** How many attempts an address may make in a window, and how many of them at one subject. */
const addressAttemptsMax = 60;
export const subjectAttemptsMax = 10;
export const windowMs = 5 * 60_000;
/** The most addresses, and the most subjects, that are counted at once. */
const countedMax = 50_000;

/** The target of an attempt. Each kind has its own key space, so that no email can name a member's counter. */
export type Subject =
  | { kind: "member"; accountId: number; memberId: number }
  /** An email that matches no member with a password; counted so that its answers look like a member's. */
  | { kind: "unknown"; email: string; accountId: number | undefined }
  /** The password of a member who is signed in. */
  | { kind: "password"; accountId: number; memberId: number }
  /** The codes of a member's second factors. */
  | { kind: "code"; accountId: number; memberId: number };

/**
 * Slows the guessing of passwords and link tokens. Attempts are counted before they are checked: by the client's address,
 * and by subject and address together, so that guesses from other addresses never lock a member out. Each node counts
 * separately.
 */
type SignInThrottle = {
  /** Counts an attempt of this address. @throws Problem `rate_limit_exceeded` after too many */
  requireAddress(address: string, now: number): void;
  /**
   * Counts an attempt at each subject that has attempts left from this address.
   *
   * @returns these subjects
   * @throws Problem `rate_limit_exceeded` if no subject has any left
   */
  requireSubjects<S extends Subject>(subjects: readonly S[], address: string, now: number): S[];
  /** Forgets a subject's attempts from this address, after one has succeeded. */
  forget(subject: Subject, address: string): void;
};

/** Creates a throttle without attempts. It has no timers, and its memory is bounded. */
export function openSignInThrottle(): SignInThrottle {
  const addresses = openAllowance(addressAttemptsMax, windowMs, countedMax);
  const subjects = openAllowance(subjectAttemptsMax, windowMs, countedMax);
  return {
    requireAddress(address, now) {
      const name = addressName(address);
      requireNoWait(addresses.waitMs(name, now));
      addresses.take(name, now);
    },
    requireSubjects(asked, address, now) {
      const open = asked.filter((subject) => subjects.take(keyOf(subject, address), now));
      if (open.length === 0) requireNoWait(Math.min(...asked.map((subject) => subjects.waitMs(keyOf(subject, address), now))));
      return open;
    },
    forget: (subject, address) => subjects.forget(keyOf(subject, address)),
  };
}

function keyOf(subject: Subject, address: string): string {
  const what = subject.kind === "unknown" ? [subject.accountId ?? null, subject.email] : [subject.accountId, subject.memberId];
  return JSON.stringify([subject.kind, addressName(address), ...what]);
}

function requireNoWait(ms: number): void {
  if (ms === 0) return;
  const seconds = Math.ceil(ms / 1_000);
  const headers = { "Retry-After": `${seconds}` };
  throw new Problem("rate_limit_exceeded", `Too many attempts. Try again in ${seconds} seconds.`, { headers });
}
