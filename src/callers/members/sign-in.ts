import type { Database, Transaction } from "../../platform/db/database.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import { findAccount } from "../accounts/accounts.store.ts";
import { currentUserResponse, signedOut } from "./responses.ts";
import { newSalt, samePassword, type PasswordHasher } from "./passwords.ts";
import { emailKey } from "./members.ts";
import { findCandidates, findMember, findPassword, redeemLink, type Candidate } from "./members.store.ts";
import { beginSession, type Visitor } from "./sessions.store.ts";
import type { SignInThrottle, Subject } from "./throttle.ts";

export type SignInParts = { db: Database; hasher: PasswordHasher; throttle: SignInThrottle };
/** A new session. Only this has the token for the cookie; the database stores a hash. */
export type NewSession = { accountId: number; memberId: number; token: string };
/** The client of a sign-in attempt, with the session that its browser had before. `now` is ms since the Unix epoch. */
export type SignInClient = Visitor & { earlier: { accountId: number; sessionId: number } | undefined; now: number };

/** Password computations of every sign-in, so that its time does not reveal whether the email is known. */
const computationsMin = 2;

/**
 * Starts a session for an email and a password. If the password fits members of several accounts, chooses the one who
 * signed in last. Attempts are counted for each member and address; a success clears only the count of its own member and
 * address. The route has already counted the address.
 *
 * @throws Problem `unauthorized`; `rate_limit_exceeded` after too many attempts
 */
export async function signIn(
  parts: SignInParts,
  given: { email: string; password: string; accountId?: number | undefined },
  client: SignInClient,
): Promise<NewSession> {
  const { db, hasher, throttle } = parts;
  const candidates = await openCandidates(parts, given, client);
  const fitting: Fitting[] = [];
  for (const candidate of candidates) {
    const hash = await hasher.hash(given.password, candidate.salt);
    if (samePassword(hash, candidate.password)) fitting.push({ candidate, hash });
  }
  for (let made = candidates.length; made < computationsMin; made++) await hasher.hash(given.password, newSalt());

  const [first] = fitting.toSorted((a, b) => b.candidate.signedInAt - a.candidate.signedInAt);
  if (!first) throw wrong();
  const { candidate, hash } = first;
  for (const fit of fitting) throttle.forget(subjectOf(fit.candidate), client.address);
  return db.write(async (tx) => {
    // the password may have changed since it was read, or its member may have been removed
    const current = await findPassword(tx, candidate.accountId, candidate.memberId);
    if (!samePassword(hash, current?.password ?? null)) throw wrong();
    return startSession(tx, candidate, client);
  });
}

type Fitting = { candidate: Candidate; hash: string };

/** Returns the members who may have this email and have attempts left from this address. Counts this attempt for each of them. */
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

function wrong(): Problem {
  return new Problem("unauthorized", "The email or the password is wrong.");
}

/**
 * Checks the password of a member who is signed in. Guesses count as at sign-in, so that a stolen session is not enough to take
 * over the account. A member without a password cannot pass.
 *
 * @param field the field of the body that holds the password, named in a refusal
 * @throws Problem `invalid_request` for a wrong or missing one; `rate_limit_exceeded` after too many attempts
 */
export async function provePassword(
  { hasher, throttle }: SignInParts,
  member: { accountId: number; memberId: number; salt: string; password: string },
  given: { field: string; password: string | undefined; address: string; now: number },
): Promise<void> {
  const { field, password, address, now } = given;
  if (password === undefined) throw refusedField(field, "is required");
  const subject = { kind: "password", accountId: member.accountId, memberId: member.memberId } as const;
  throttle.requireAddress(address, now);
  throttle.requireSubjects([subject], address, now);
  if (!samePassword(await hasher.hash(password, member.salt), member.password)) throw refusedField(field, "is wrong");
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
export async function signInByLink({ db }: SignInParts, linkToken: string, client: SignInClient): Promise<NewSession> {
  return db.write(async (tx) => {
    const member = await redeemLink(tx, linkToken, client.now);
    if (!member) throw new Problem("unauthorized", "This sign-in link was used or has expired. Ask for a new one.");
    return startSession(tx, member, client);
  });
}

async function startSession(
  tx: Transaction,
  { accountId, memberId }: Omit<NewSession, "token">,
  client: SignInClient,
): Promise<NewSession> {
  return { accountId, memberId, token: await beginSession(tx, { accountId, memberId }, client, client.earlier, client.now) };
}

/** Returns the signed-in member and the account. @throws Problem `unauthorized` if either was deleted */
export async function currentUser(db: Database, accountId: number, memberId: number) {
  const [member, account] = await Promise.all([findMember(db, accountId, memberId), findAccount(db, accountId)]);
  if (!member || !account) throw signedOut();
  return currentUserResponse(member, account);
}
