import sql, { raw } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Queryable, Row, Transaction } from "../../platform/db/database.ts";
import { invalidAt, Problem } from "../../platform/problem.ts";
import { factorCondition, removeFactors } from "./factors.store.ts";
import {
  emailKey,
  emailOf,
  hashToken,
  invitationMs,
  linkMs,
  makeToken,
  membersMax,
  type Invitation,
  type Member,
  type Reset,
  type Role,
} from "./members.ts";
import { newSalt } from "./passwords.ts";

/** The most accounts in which a sign-in looks for an email. A person with more accounts must name one. */
const candidatesMax = 10;

const columns = raw(`id, account_id, email, role, password IS NOT NULL AS has_password, created_at, signed_in_at, reset_at, reset_by,
  factors_reset_at, factors_reset_by, ${factorCondition} AS has_factor`);

/**
 * Adds a member with a sign-in link. Without a role the account's first member becomes an owner, any other a member.
 *
 * @param asked `email` is null for an owner created at the first start
 * @throws Problem `invalid_request` for text that is not an email, and beyond `membersMax`; `member_exists` if the account
 *   already has a member with this email
 */
export async function invite(
  tx: Transaction,
  accountId: number,
  asked: { email: string | null; role?: Role | undefined },
  now: number,
): Promise<Invitation> {
  const email = asked.email === null ? null : emailOf(asked.email);
  await lockMembers(tx, accountId);
  await deleteAbandonedOwners(tx, accountId, now);
  if (email !== null) await requireNewEmail(tx, accountId, email);
  const member = await insertMember(tx, accountId, { email, role: asked.role }, now);
  recordMember(tx, "member.invited", accountId, member.id);
  return makeLink(tx, member, now + (email === null ? linkMs : invitationMs));
}

/**
 * Removes a member's password, second factors and sessions, records who did it, and makes a new link. Returns undefined if there is
 * no such member.
 *
 * @param by the email of the owner who resets, or `operator`
 */
export async function reset(
  tx: Transaction,
  accountId: number,
  memberId: number,
  by: string,
  now: number,
): Promise<Invitation | undefined> {
  const rows = await tx.query(sql`
    UPDATE members SET password = NULL, reset_at = ${now}, reset_by = ${by}
    WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  if (!rows[0]) return undefined;
  await endAccess(tx, accountId, memberId);
  recordMember(tx, "member.reset", accountId, memberId);
  return makeLink(tx, { ...memberOf(rows[0]), hasSecondFactor: false }, now + linkMs);
}

/**
 * Removes a member's second factors and sessions, and records who did it. Keeps the password. Returns undefined if there is no such
 * member.
 *
 * @param by the email of the owner who does it
 */
export async function resetFactors(
  tx: Transaction,
  accountId: number,
  memberId: number,
  by: string,
  now: number,
): Promise<Member | undefined> {
  const rows = await tx.query(sql`
    UPDATE members SET factors_reset_at = ${now}, factors_reset_by = ${by}
    WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  if (!rows[0]) return undefined;
  await endAccess(tx, accountId, memberId);
  recordMember(tx, "member.reset", accountId, memberId);
  return { ...memberOf(rows[0]), hasSecondFactor: false };
}

async function endAccess(tx: Transaction, accountId: number, memberId: number): Promise<void> {
  await removeFactors(tx, { accountId, memberId });
  await tx.query(sql`DELETE FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/**
 * Removes a member with all sessions and links; undefined if there is no such member.
 *
 * @throws Problem `invalid_request` for the last owner
 */
export async function removeMember(tx: Transaction, accountId: number, memberId: number): Promise<Member | undefined> {
  await lockMembers(tx, accountId);
  await requireAnotherOwner(tx, accountId, memberId);
  const rows = await tx.query(sql`DELETE FROM members WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  if (rows.length > 0) recordMember(tx, "member.removed", accountId, memberId);
  return rows[0] && memberOf(rows[0]);
}

/** Changes a role, at once; undefined if there is no such member. @throws Problem `invalid_request` for the last owner */
export async function setRole(tx: Transaction, accountId: number, memberId: number, role: Role): Promise<Member | undefined> {
  await lockMembers(tx, accountId);
  if (role !== "owner") await requireAnotherOwner(tx, accountId, memberId);
  const before = await findMember(tx, accountId, memberId);
  const rows = await tx.query(sql`
    UPDATE members SET role = ${role} WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  if (before && before.role !== role) {
    const data = { id: memberId, role };
    tx.record({ accountId, type: "member.updated", resource: { type: "member", id: memberId }, data, previous: { role: before.role } });
  }
  return rows[0] && memberOf(rows[0]);
}

/** Records an event of a member. It holds only ids: the email is read when the event is shown. */
function recordMember(tx: Transaction, type: "member.invited" | "member.reset" | "member.removed", accountId: number, id: number): void {
  tx.record({ accountId, type, resource: { type: "member", id }, data: { id } });
}

/** Lists an account's members, at most `membersMax`, by id. */
export async function listMembers(db: Queryable, accountId: number): Promise<Member[]> {
  const rows = await db.query(sql`SELECT ${columns} FROM members WHERE account_id = ${accountId} ORDER BY id`);
  return rows.map(memberOf);
}

/** Whether anyone has ever signed in, in any account. */
export async function someoneHasSignedIn(db: Queryable): Promise<boolean> {
  const rows = await db.query(sql`SELECT 1 FROM members WHERE signed_in_at IS NOT NULL ${limitTo(1)}`);
  return rows.length > 0;
}

/** Finds a member; undefined if the account has no such member. */
export async function findMember(db: Queryable, accountId: number, memberId: number): Promise<Member | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM members WHERE account_id = ${accountId} AND id = ${memberId}`);
  return rows[0] && memberOf(rows[0]);
}

/** Finds the account's member with this email, in upper or lower case. */
export async function findMemberByEmail(db: Queryable, accountId: number, email: string): Promise<Member | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM members WHERE account_id = ${accountId} AND email_key = ${emailKey(email)}`);
  return rows[0] && memberOf(rows[0]);
}

/** A member whose email a sign-in gave. Each has a different salt, even if members of several accounts share an email. */
export type Candidate = { accountId: number; memberId: number; salt: string; password: string; signedInAt: number };

/**
 * Lists the members with this email and a password, in one account or in all, in the order in which they were added, so that a
 * member added to another account later never displaces them.
 *
 * @returns at most `candidatesMax`
 */
export async function findCandidates(db: Queryable, email: string, accountId: number | undefined): Promise<Candidate[]> {
  const within = accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`;
  const rows = await db.query(sql`
    SELECT account_id, id, salt, password, COALESCE(signed_in_at, 0) AS signed_in_at FROM members
    WHERE email_key = ${emailKey(email)} AND password IS NOT NULL ${within} ORDER BY id ${limitTo(candidatesMax)}`);
  return rows.map((row) => ({
    accountId: Number(row["account_id"]),
    memberId: Number(row["id"]),
    salt: String(row["salt"]),
    password: String(row["password"]),
    signedInAt: Number(row["signed_in_at"]),
  }));
}

/** Returns a member's salt and password (a PHC string, null until one is set); undefined if there is no such member. */
export async function findPassword(db: Queryable, accountId: number, memberId: number): Promise<StoredPassword | undefined> {
  const [row] = await db.query<StoredPassword>(sql`
    SELECT salt, password FROM members WHERE account_id = ${accountId} AND id = ${memberId}`);
  return row;
}

export type StoredPassword = { salt: string; password: string | null };

/**
 * Replaces a password and its salt if they are still those of `before`.
 *
 * @returns false if they have changed since
 */
export async function replacePassword(
  tx: Transaction,
  { accountId, memberId }: { accountId: number; memberId: number },
  before: StoredPassword,
  after: { salt: string; password: string },
): Promise<boolean> {
  const same = before.password === null ? sql`password IS NULL` : sql`password = ${before.password}`;
  const rows = await tx.query(sql`
    UPDATE members SET password = ${after.password}, salt = ${after.salt}
    WHERE account_id = ${accountId} AND id = ${memberId} AND salt = ${before.salt} AND ${same} RETURNING id`);
  return rows.length > 0;
}

/**
 * Gives an email to a member who has none.
 *
 * @throws Problem `member_exists` if another member of the account has it
 */
export async function setMemberEmail(tx: Transaction, accountId: number, memberId: number, email: string): Promise<void> {
  await lockMembers(tx, accountId);
  await requireNewEmail(tx, accountId, email);
  await tx.query(sql`
    UPDATE members SET email = ${email}, email_key = ${emailKey(email)}
    WHERE account_id = ${accountId} AND id = ${memberId} AND email IS NULL AND password IS NULL`);
}

async function requireNewEmail(tx: Transaction, accountId: number, email: string): Promise<void> {
  if (!(await findMemberByEmail(tx, accountId, email))) return;
  throw new Problem("member_exists", "The account has a member with this email. Reset that member to make a new sign-in link.");
}

/** Uses up a sign-in link. Of simultaneous attempts, one gets the member. */
export async function redeemLink(
  tx: Transaction,
  token: string,
  now: number,
): Promise<{ accountId: number; memberId: number } | undefined> {
  const [row] = await tx.query(sql`
    DELETE FROM sign_in_links WHERE hash = ${hashToken(token)} AND expires_at > ${now} RETURNING account_id, member_id`);
  return row && { accountId: Number(row["account_id"]), memberId: Number(row["member_id"]) };
}

async function insertMember(tx: Transaction, accountId: number, asked: { email: string | null; role: Role | undefined }, now: number) {
  const members = await listMembers(tx, accountId);
  if (members.length >= membersMax) {
    throw invalidAt("body.email", "is one member too many", `The account has ${membersMax} members already: remove some first.`);
  }
  const { email } = asked;
  const role = asked.role ?? (members.some((member) => member.role === "owner") ? "member" : "owner");
  const key = email === null ? null : emailKey(email);
  const rows = await tx.query(sql`
    INSERT INTO members (account_id, id, email, email_key, role, salt, created_at)
    VALUES (${accountId}, nextval('member_ids'), ${email}, ${key}, ${role}, ${newSalt()}, ${now})
    RETURNING ${columns}`);
  return memberOf(rows[0]!);
}

async function makeLink(tx: Transaction, member: Member, expiresAt: number): Promise<Invitation> {
  const token = makeToken();
  await tx.query(sql`
    INSERT INTO sign_in_links (account_id, member_id, hash, expires_at)
    VALUES (${member.accountId}, ${member.id}, ${hashToken(token)}, ${expiresAt})
    ON CONFLICT (account_id, member_id) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`);
  return { member, token, expiresAt };
}

/** Locks an account's members, so that each change sees the current owners. */
function lockMembers(tx: Transaction, accountId: number): Promise<void> {
  return tx.lock(`members ${accountId}`);
}

async function requireAnotherOwner(tx: Transaction, accountId: number, memberId: number): Promise<void> {
  const members = await listMembers(tx, accountId);
  const owners = members.filter(({ role }) => role === "owner");
  if (owners.length !== 1 || owners[0]?.id !== memberId) return;
  throw invalidAt("path.memberId", "is the only owner", "The account needs an owner: make somebody else one first.");
}

/** Deletes owners from a first start who never gave an email and whose link and sessions have ended. */
async function deleteAbandonedOwners(tx: Transaction, accountId: number, now: number): Promise<void> {
  await tx.query(sql`
    DELETE FROM members WHERE account_id = ${accountId} AND email IS NULL
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.account_id = members.account_id AND member_id = members.id)
      AND NOT EXISTS (SELECT 1 FROM sign_in_links WHERE sign_in_links.account_id = members.account_id AND member_id = members.id
        AND expires_at > ${now})`);
}

function memberOf(row: Row): Member {
  return {
    id: Number(row["id"]),
    accountId: Number(row["account_id"]),
    email: row["email"] as string | null,
    role: row["role"] as Role,
    hasPassword: Boolean(row["has_password"]),
    createdAt: Number(row["created_at"]),
    signedInAt: row["signed_in_at"] === null ? null : Number(row["signed_in_at"]),
    reset: resetOf(row["reset_at"], row["reset_by"]),
    hasSecondFactor: Boolean(row["has_factor"]),
    factorsReset: resetOf(row["factors_reset_at"], row["factors_reset_by"]),
  };
}

function resetOf(at: unknown, by: unknown): Reset | null {
  return at === null ? null : { at: Number(at), by: String(by) };
}
