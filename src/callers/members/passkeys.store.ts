import { randomBytes } from "node:crypto";
import sql, { empty } from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Row, Transaction } from "../../platform/db/database.ts";
import { hashToken } from "./members.ts";
import type { Passkey } from "./passkeys.ts";

type MemberRef = { accountId: number; memberId: number };

/** The data that verifies a passkey's answer. `publicKey` and `userHandle` are base64url. */
export type StoredPasskey = MemberRef & { id: string; publicKey: string; counter: number; userHandle: string; rpId: string };

/** Lists a member's passkeys, the oldest first. */
export async function listPasskeys(db: Queryable, { accountId, memberId }: MemberRef): Promise<Passkey[]> {
  const rows = await db.query(sql`
    SELECT credential_id, name, rp_id, created_at, used_at FROM passkeys
    WHERE account_id = ${accountId} AND member_id = ${memberId} ORDER BY created_at, credential_id`);
  return rows.map(passkeyOf);
}

/** Finds a passkey by its credential id, in any account. */
export async function findPasskey(db: Queryable, credentialId: string): Promise<StoredPasskey | undefined> {
  const [row] = await db.query(sql`
    SELECT account_id, member_id, credential_id, public_key, counter, user_handle, rp_id FROM passkeys WHERE credential_id = ${credentialId}`);
  return (
    row && {
      accountId: Number(row["account_id"]),
      memberId: Number(row["member_id"]),
      id: String(row["credential_id"]),
      publicKey: String(row["public_key"]),
      counter: Number(row["counter"]),
      userHandle: String(row["user_handle"]),
      rpId: String(row["rp_id"]),
    }
  );
}

/** Returns the user handle of a member's passkeys, as base64url: the one of earlier passkeys, or a new one. It is random, so it identifies nobody. */
export async function userHandleOf(db: Queryable, { accountId, memberId }: MemberRef): Promise<string> {
  const [row] = await db.query<{ user_handle: string }>(sql`
    SELECT user_handle FROM passkeys WHERE account_id = ${accountId} AND member_id = ${memberId} ORDER BY created_at LIMIT 1`);
  return row?.user_handle ?? randomBytes(32).toString("base64url");
}

/** Adds a passkey. @returns false if its credential id is known already */
export async function insertPasskey(
  tx: Transaction,
  passkey: StoredPasskey & { transports: string[]; name: string },
  now: number,
): Promise<boolean> {
  const { accountId, memberId, id, publicKey, counter, transports, userHandle, rpId, name } = passkey;
  const rows = await tx.query(sql`
    INSERT INTO passkeys (account_id, member_id, credential_id, public_key, counter, transports, user_handle, rp_id, name, created_at)
    VALUES (${accountId}, ${memberId}, ${id}, ${publicKey}, ${counter}, ${transports.join(",")}, ${userHandle}, ${rpId}, ${name}, ${now})
    ON CONFLICT (credential_id) DO NOTHING RETURNING 1`);
  return rows.length > 0;
}

/**
 * Records a use. If the passkey has a signature counter, it must have grown since the last use (Web Authentication, 6.1.1): otherwise
 * somebody may have copied the passkey.
 *
 * @returns false if the counter has not grown, or if the passkey was removed
 */
export async function usePasskey(
  tx: Transaction,
  { accountId, memberId, id }: StoredPasskey,
  counter: number,
  now: number,
): Promise<boolean> {
  const hasNoCounter = counter === 0 ? sql`OR counter = 0` : empty;
  const rows = await tx.query(sql`
    UPDATE passkeys SET counter = ${counter}, used_at = ${now}
    WHERE account_id = ${accountId} AND member_id = ${memberId} AND credential_id = ${id}
      AND (counter < ${counter} ${hasNoCounter}) RETURNING 1`);
  return rows.length > 0;
}

/** Renames a passkey of a member. @returns the passkey; undefined if there is no such passkey */
export async function setPasskeyName(
  tx: Transaction,
  { accountId, memberId }: MemberRef,
  id: string,
  name: string,
): Promise<Passkey | undefined> {
  const [row] = await tx.query(sql`
    UPDATE passkeys SET name = ${name} WHERE account_id = ${accountId} AND member_id = ${memberId} AND credential_id = ${id}
    RETURNING credential_id, name, rp_id, created_at, used_at`);
  return row && passkeyOf(row);
}

/** Removes a passkey of a member. @returns whether there was one */
export async function deletePasskey(tx: Transaction, { accountId, memberId }: MemberRef, id: string): Promise<boolean> {
  const rows = await tx.query(sql`
    DELETE FROM passkeys WHERE account_id = ${accountId} AND member_id = ${memberId} AND credential_id = ${id} RETURNING 1`);
  return rows.length > 0;
}

/** Records that a challenge was answered. @returns false if it already was: of simultaneous answers, one gets true */
export async function answerOnce(tx: Transaction, { challenge, expiresAt }: { challenge: string; expiresAt: number }): Promise<boolean> {
  const rows = await tx.query(sql`
    INSERT INTO answered_challenges (hash, expires_at) VALUES (${hashToken(challenge)}, ${expiresAt}) ON CONFLICT (hash) DO NOTHING RETURNING 1`);
  return rows.length > 0;
}

/** Returns a warning if passkeys were made for a host other than that of PUBLIC_URL; undefined if none were. */
export async function passkeyWarning(db: Queryable, publicUrl: string): Promise<string | undefined> {
  const host = new URL(publicUrl).hostname;
  const [row] = await db.query(sql`SELECT COUNT(*) AS count FROM passkeys WHERE rp_id <> ${host}`);
  const count = Number(row?.["count"]);
  if (count === 0) return undefined;
  const made = count === 1 ? "1 passkey was made for another host" : `${count} passkeys were made for another host`;
  return `${made} than ${host} and ${count === 1 ? "does" : "do"} not work: PUBLIC_URL has changed`;
}

/** Deletes answered challenges that have expired. */
export async function deleteExpiredChallenges(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM answered_challenges WHERE hash IN (SELECT hash FROM answered_challenges WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
  );
}

function passkeyOf(row: Row): Passkey {
  return {
    id: String(row["credential_id"]),
    name: String(row["name"]),
    rpId: String(row["rp_id"]),
    createdAt: Number(row["created_at"]),
    usedAt: row["used_at"] === null ? null : Number(row["used_at"]),
  };
}
