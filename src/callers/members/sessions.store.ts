import sql, { join } from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Row, Transaction } from "../../platform/db/database.ts";
import { hashToken, makeToken, type Role } from "./members.ts";
import { absoluteMs, hasEnded, idleMs, seenEveryMs, sessionsMax, storedUserAgent, type Session } from "./sessions.ts";

/** The client of a session. */
export type SessionClient = { address: string; userAgent: string };
export type SignedIn = { accountId: number; memberId: number; sessionId: number; role: Role; seenAt: number; confirmedAt: number };
/** A browser's session that has not ended, with its token from the cookie. */
export type BrowserSession = SignedIn & { token: string };

/** Starts a session of a member. @returns the token for the cookie; the database stores its hash */
export async function insertSession(
  tx: Transaction,
  who: { accountId: number; memberId: number },
  client: SessionClient,
  now: number,
): Promise<string> {
  const { accountId, memberId } = who;
  const token = makeToken();
  await tx.query(sql`
    INSERT INTO sessions (account_id, id, member_id, hash, address, user_agent, created_at, seen_at, confirmed_at)
    VALUES (${accountId}, nextval('session_ids'), ${memberId}, ${hashToken(token)}, ${client.address},
      ${storedUserAgent(client.userAgent)}, ${now}, ${now}, ${now})`);
  await tx.query(sql`
    DELETE FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId} AND id NOT IN
      (SELECT id FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId} ORDER BY seen_at DESC, id DESC ${limitTo(sessionsMax)})`);
  await tx.query(sql`UPDATE members SET signed_in_at = ${now} WHERE account_id = ${accountId} AND id = ${memberId}`);
  const actor = { type: "member", id: memberId } as const;
  tx.record({ accountId, type: "member.signed_in", resource: actor, data: { id: memberId } }, { actor });
  return token;
}

/** Finds the session of a token, with the member's current role; undefined if it has ended. */
export async function findSession(db: Queryable, token: string, now: number): Promise<SignedIn | undefined> {
  return (await findSessions(db, [token], now))[0];
}

/** Finds the sessions of a browser's tokens that have not ended, in the order of the tokens. */
export async function findSessions(db: Queryable, tokens: readonly string[], now: number): Promise<BrowserSession[]> {
  if (tokens.length === 0) return [];
  const byHash = new Map(tokens.map((token) => [hashToken(token), token]));
  const rows = await db.query(sql`
    SELECT hash, sessions.account_id, member_id, sessions.id, role, sessions.created_at, seen_at, confirmed_at FROM sessions
    JOIN members ON members.account_id = sessions.account_id AND members.id = member_id WHERE hash IN (${join([...byHash.keys()])})`);
  const active = rows.filter((row) => !hasEnded({ createdAt: Number(row["created_at"]), seenAt: Number(row["seen_at"]) }, now));
  const found = active.map((row) => ({
    token: byHash.get(String(row["hash"])) ?? "",
    accountId: Number(row["account_id"]),
    memberId: Number(row["member_id"]),
    sessionId: Number(row["id"]),
    role: row["role"] as Role,
    seenAt: Number(row["seen_at"]),
    confirmedAt: Number(row["confirmed_at"]),
  }));
  return found.toSorted((a, b) => tokens.indexOf(a.token) - tokens.indexOf(b.token));
}

/** Returns the email and the account's name of these sessions, by member id. */
export async function namesOf(
  db: Queryable,
  sessions: readonly SignedIn[],
): Promise<Map<number, { email: string | null; account: string }>> {
  if (sessions.length === 0) return new Map();
  const rows = await db.query(sql`
    SELECT members.id, email, accounts.name FROM members JOIN accounts ON accounts.id = account_id
    WHERE members.id IN (${join(sessions.map(({ memberId }) => memberId))})`);
  return new Map(rows.map((row) => [Number(row["id"]), { email: row["email"] as string | null, account: String(row["name"]) }]));
}

/** Records that the member entered the right password in this session. */
export async function confirmSession(tx: Transaction, accountId: number, sessionId: number, now: number): Promise<void> {
  await tx.query(sql`UPDATE sessions SET confirmed_at = ${now} WHERE account_id = ${accountId} AND id = ${sessionId}`);
}

/** Records the use of a session, at most once a minute. */
export async function recordSeen(db: Database, { accountId, sessionId, seenAt }: SignedIn, now: number): Promise<void> {
  if (now < seenAt + seenEveryMs) return;
  await db.write((tx) =>
    tx.query(sql`UPDATE sessions SET seen_at = ${now} WHERE account_id = ${accountId} AND id = ${sessionId} AND seen_at < ${now}`),
  );
}

/** Lists a member's sessions that have not ended, the most recently used first. */
export async function listSessions(db: Queryable, accountId: number, memberId: number, now: number): Promise<Session[]> {
  const rows = await db.query(sql`
    SELECT id, address, user_agent, created_at, seen_at FROM sessions
    WHERE account_id = ${accountId} AND member_id = ${memberId} ORDER BY seen_at DESC, id DESC`);
  return rows.map(sessionOf).filter((session) => !hasEnded(session, now));
}

/** Ends a session, unless it has ended already. */
export async function endSession(tx: Transaction, accountId: number, sessionId: number): Promise<void> {
  await tx.query(sql`DELETE FROM sessions WHERE account_id = ${accountId} AND id = ${sessionId}`);
}

/** Ends one session of a member. @returns whether there was such a session */
export async function endOwnSession(tx: Transaction, accountId: number, memberId: number, sessionId: number): Promise<boolean> {
  const rows = await tx.query(sql`
    DELETE FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId} AND id = ${sessionId} RETURNING id`);
  return rows.length > 0;
}

/** Ends all sessions of a member but one. */
export async function endOtherSessions(tx: Transaction, accountId: number, memberId: number, sessionId: number): Promise<void> {
  await tx.query(sql`DELETE FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId} AND id <> ${sessionId}`);
}

/** Deletes all sessions that have ended, and all sign-in links that have expired. */
export async function deleteEndedSessions(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM sessions WHERE (account_id, id) IN
        (SELECT account_id, id FROM sessions WHERE seen_at <= ${now - idleMs} OR created_at <= ${now - absoluteMs} ${limit}) RETURNING 1`,
  );
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM sign_in_links WHERE (account_id, member_id) IN
        (SELECT account_id, member_id FROM sign_in_links WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
  );
}

function sessionOf(row: Row): Session {
  return {
    id: Number(row["id"]),
    address: String(row["address"]),
    userAgent: String(row["user_agent"]),
    createdAt: Number(row["created_at"]),
    seenAt: Number(row["seen_at"]),
  };
}
