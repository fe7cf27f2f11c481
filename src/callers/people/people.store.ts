import { randomBytes } from "node:crypto";
import sql, { raw } from "sql-template-tag";
import type { Queryable, Row, Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import { emailKey, emailOf, hashToken, linkMs, makeToken, membersMax, type Invited, type Member, type Role } from "./people.ts";

const columns = raw("id, account_id, email, role, password IS NOT NULL AS has_password, created_at, signed_in_at");

/**
 * Invites somebody, or a member anew: the role of a member stays as it is. Without a role the account's first member with
 * a way in becomes an owner, any other a member.
 *
 * @param email null for the owner of a first start
 * @throws Problem `invalid_request` for what is no email, and beyond `membersMax`
 */
export async function invite(
  tx: Transaction,
  accountId: number,
  asked: { email: string | null; role?: Role | undefined },
  now: number,
): Promise<Invited> {
  const email = asked.email === null ? null : emailOf(asked.email);
  await lockMembers(tx, accountId);
  await forgetNobodies(tx, accountId, now);
  const known = email === null ? undefined : await findMemberByEmail(tx, accountId, email);
  return makeLink(tx, known ?? (await insertMember(tx, accountId, { email, role: asked.role }, now)), now);
}

/** Takes a member's password and sessions away, and gives a new link; undefined if there is no such member. */
export async function reset(tx: Transaction, accountId: number, memberId: number, now: number): Promise<Invited | undefined> {
  const rows = await tx.query(sql`
    UPDATE members SET password = NULL WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  if (!rows[0]) return undefined;
  await tx.query(sql`DELETE FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId}`);
  return makeLink(tx, memberOf(rows[0]), now);
}

/**
 * Removes a member with all sessions and links; undefined if there is no such member.
 *
 * @throws Problem `invalid_request` for the last owner
 */
export async function removeMember(tx: Transaction, accountId: number, memberId: number): Promise<Member | undefined> {
  await lockMembers(tx, accountId);
  await keepAnOwner(tx, accountId, memberId);
  const rows = await tx.query(sql`DELETE FROM members WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  return rows[0] && memberOf(rows[0]);
}

/** Changes a role, at once; undefined if there is no such member. @throws Problem `invalid_request` for the last owner */
export async function setRole(tx: Transaction, accountId: number, memberId: number, role: Role): Promise<Member | undefined> {
  await lockMembers(tx, accountId);
  if (role !== "owner") await keepAnOwner(tx, accountId, memberId);
  const rows = await tx.query(sql`
    UPDATE members SET role = ${role} WHERE account_id = ${accountId} AND id = ${memberId} RETURNING ${columns}`);
  return rows[0] && memberOf(rows[0]);
}

/** At most `membersMax`, by id. */
export async function listMembers(db: Queryable, accountId: number): Promise<Member[]> {
  const rows = await db.query(sql`SELECT ${columns} FROM members WHERE account_id = ${accountId} ORDER BY id`);
  return rows.map(memberOf);
}

/** Undefined where the account has no such member. */
export async function findMember(db: Queryable, accountId: number, memberId: number): Promise<Member | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM members WHERE account_id = ${accountId} AND id = ${memberId}`);
  return rows[0] && memberOf(rows[0]);
}

/** The account's member with this email, however it is written. */
export async function findMemberByEmail(db: Queryable, accountId: number, email: string): Promise<Member | undefined> {
  const rows = await db.query(sql`SELECT ${columns} FROM members WHERE account_id = ${accountId} AND email_key = ${emailKey(email)}`);
  return rows[0] && memberOf(rows[0]);
}

/** Who may be meant by an email, in whatever account, those who came last first. All have one salt. */
type Candidate = { accountId: number; memberId: number; salt: string; password: string | null };

/** At most 1,000 of them. */
export async function findCandidates(db: Queryable, email: string): Promise<Candidate[]> {
  const rows = await db.query(sql`
    SELECT account_id, id, salt, password FROM members WHERE email_key = ${emailKey(email)}
    ORDER BY COALESCE(signed_in_at, 0) DESC, id LIMIT 1000`);
  return rows.map((row) => ({
    accountId: Number(row["account_id"]),
    memberId: Number(row["id"]),
    salt: String(row["salt"]),
    password: row["password"] as string | null,
  }));
}

/** What a member proves a password with, undefined if there is no such member. */
export async function findPassword(db: Queryable, accountId: number, memberId: number): Promise<Omit<Candidate, "accountId"> | undefined> {
  const [row] = await db.query<{ salt: string; password: string | null }>(sql`
    SELECT salt, password FROM members WHERE account_id = ${accountId} AND id = ${memberId}`);
  return row && { memberId, ...row };
}

/** The salt that everybody with this email has, a new one for an email that is not known. */
export async function saltFor(db: Queryable, email: string): Promise<string> {
  const [row] = await db.query<{ salt: string }>(sql`SELECT salt FROM members WHERE email_key = ${emailKey(email)} LIMIT 1`);
  return row?.salt ?? randomBytes(16).toString("base64url");
}

/**
 * Sets a password unless it was changed since it was read.
 *
 * @returns whether it was set
 */
export async function setPassword(tx: Transaction, accountId: number, seen: Omit<Candidate, "accountId">, password: string) {
  const same = seen.password === null ? sql`password IS NULL` : sql`password = ${seen.password}`;
  const rows = await tx.query(sql`
    UPDATE members SET password = ${password}
    WHERE account_id = ${accountId} AND id = ${seen.memberId} AND salt = ${seen.salt} AND ${same} RETURNING id`);
  return rows.length > 0;
}

/**
 * Gives an email to a member who has none. A member with another salt than the email's, who was named meanwhile, stays
 * as it is, and `setPassword` then finds nothing to set.
 *
 * @param salt what `saltFor` gave for the email
 * @throws Problem `invalid_request` where the email is a member's of this account
 */
export async function nameMember(tx: Transaction, accountId: number, memberId: number, email: string, salt: string): Promise<void> {
  await lockMembers(tx, accountId);
  await tx.lock(`email ${emailKey(email)}`);
  if (await findMemberByEmail(tx, accountId, email)) throw new Problem("invalid_request", "A member of the account has this email.");
  const [known] = await tx.query<{ salt: string }>(sql`SELECT salt FROM members WHERE email_key = ${emailKey(email)} LIMIT 1`);
  if (known && known.salt !== salt) return;
  await tx.query(sql`
    UPDATE members SET email = ${email}, email_key = ${emailKey(email)}, salt = ${salt}
    WHERE account_id = ${accountId} AND id = ${memberId} AND email IS NULL AND password IS NULL`);
}

/** Uses up a link: of any number of attempts one gets the member. */
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
    throw new Problem("invalid_request", `The account has ${membersMax} members already: remove some first.`);
  }
  const { email } = asked;
  const role = asked.role ?? (members.some((member) => member.role === "owner") ? "member" : "owner");
  const key = email === null ? null : emailKey(email);
  if (key !== null) await tx.lock(`email ${key}`);
  const rows = await tx.query(sql`
    INSERT INTO members (account_id, id, email, email_key, role, salt, created_at)
    VALUES (${accountId}, nextval('member_ids'), ${email}, ${key}, ${role}, ${await saltFor(tx, email ?? "")}, ${now})
    RETURNING ${columns}`);
  return memberOf(rows[0]!);
}

async function makeLink(tx: Transaction, member: Member, now: number): Promise<Invited> {
  const token = makeToken();
  const expiresAt = now + linkMs;
  await tx.query(sql`
    INSERT INTO sign_in_links (account_id, member_id, hash, expires_at)
    VALUES (${member.accountId}, ${member.id}, ${hashToken(token)}, ${expiresAt})
    ON CONFLICT (account_id, member_id) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`);
  return { member, token, expiresAt };
}

/** Changes of an account's members follow one another: each sees who is an owner. */
function lockMembers(tx: Transaction, accountId: number): Promise<void> {
  return tx.lock(`members ${accountId}`);
}

async function keepAnOwner(tx: Transaction, accountId: number, memberId: number): Promise<void> {
  const members = await listMembers(tx, accountId);
  const owners = members.filter(({ role }) => role === "owner");
  if (owners.length !== 1 || owners[0]?.id !== memberId) return;
  throw new Problem("invalid_request", "The account needs an owner: make somebody else one first.");
}

/** Owners of a first start who never gave an email, and have no way in any more. */
async function forgetNobodies(tx: Transaction, accountId: number, now: number): Promise<void> {
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
  };
}
