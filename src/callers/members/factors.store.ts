import sql, { raw } from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import {
  appCodeOf,
  type Factors,
  newRecoveryCodes,
  newTotpSecret,
  pendingMax,
  pendingMs,
  recoveryCodeHash,
  stepOfCode,
  wrongCodesMax,
  wrongCodesMs,
} from "./factors.ts";
import { hashToken, makeToken } from "./members.ts";

export type MemberRef = { accountId: number; memberId: number };

/** Whether the row of `members` has a second factor, as SQL. */
export const factorCondition = `(EXISTS (SELECT 1 FROM authenticator_apps
  WHERE authenticator_apps.account_id = members.account_id AND member_id = members.id AND enabled_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.account_id = members.account_id AND member_id = members.id))`;

/** Returns a member's second factors. */
export async function findFactors(db: Queryable, { accountId, memberId }: MemberRef): Promise<Factors> {
  const [row] = await db.query(sql`
    SELECT (SELECT enabled_at FROM authenticator_apps WHERE account_id = ${accountId} AND member_id = ${memberId}) AS enabled_at,
      (SELECT COUNT(*) FROM recovery_codes WHERE account_id = ${accountId} AND member_id = ${memberId}) AS codes`);
  const enabledAt = row?.["enabled_at"] ?? null;
  return { app: enabledAt === null ? null : { enabledAt: Number(enabledAt) }, recoveryCodesLeft: Number(row?.["codes"]) };
}

/** Locks a member's second factors, so that their changes run one after the other. */
export function lockFactors(tx: Transaction, { accountId, memberId }: MemberRef): Promise<void> {
  return tx.lock(`factors ${accountId} ${memberId}`);
}

/** Saves a new secret for an authenticator app. Replaces an app that is not enabled yet. @returns the secret */
export async function prepareApp(tx: Transaction, { accountId, memberId }: MemberRef, keys: SecretsKeys): Promise<string> {
  const secret = newTotpSecret();
  const envelope = encryptSecret(keys, secret, String(memberId));
  await tx.query(sql`
    INSERT INTO authenticator_apps (account_id, member_id, secret, used_step, wrong, wrong_since) VALUES (${accountId}, ${memberId}, ${envelope}, 0, 0, 0)
    ON CONFLICT (account_id, member_id) DO UPDATE SET secret = excluded.secret WHERE authenticator_apps.enabled_at IS NULL`);
  return secret;
}

/** The result of a code. `none`: the member has no such app. `blockedUntil` (ms): too many codes were wrong. */
export type CodeVerdict = "right" | "wrong" | "none" | { blockedUntil: number };

/**
 * Checks a code of the member's authenticator app. Accepts the code of each step once: of simultaneous attempts with one code, one
 * is right. Counts each attempt before it compares the code, so commit the transaction even if the code is wrong.
 *
 * @param who `state` is `prepared` if the code is to enable the app
 */
export async function useAppCode(
  tx: Transaction,
  who: MemberRef & { state: "enabled" | "prepared" },
  code: string,
  keys: SecretsKeys,
  now: number,
): Promise<CodeVerdict> {
  const isApp = sql`account_id = ${who.accountId} AND member_id = ${who.memberId}
    AND enabled_at IS ${who.state === "enabled" ? sql`NOT NULL` : sql`NULL`}`;
  // The day of wrong codes begins with the first one. It also ends if the clock was set back to before it.
  const isOver = sql`(wrong = 0 OR wrong_since <= ${now - wrongCodesMs} OR wrong_since > ${now})`;
  const [app] = await tx.query(sql`
    UPDATE authenticator_apps SET wrong = CASE WHEN ${isOver} THEN 1 ELSE wrong + 1 END,
      wrong_since = CASE WHEN ${isOver} THEN ${now} ELSE wrong_since END
    WHERE ${isApp} AND (wrong < ${wrongCodesMax} OR ${isOver}) RETURNING secret`);
  if (!app) {
    const [blocked] = await tx.query(sql`SELECT wrong_since FROM authenticator_apps WHERE ${isApp}`);
    return blocked ? { blockedUntil: Number(blocked["wrong_since"]) + wrongCodesMs } : "none";
  }
  const step = stepOfCode(decryptSecret(keys, String(app["secret"]), String(who.memberId)), code, now);
  if (step === undefined) return "wrong";
  const used = await tx.query(sql`
    UPDATE authenticator_apps SET used_step = ${step}, wrong = wrong - 1 WHERE ${isApp} AND used_step < ${step} RETURNING 1`);
  return used.length > 0 ? "right" : "wrong";
}

/** Uses up a recovery code. Of simultaneous attempts with one code, one is right. */
async function useRecoveryCode(tx: Transaction, { accountId, memberId }: MemberRef, code: string): Promise<CodeVerdict> {
  const used = await tx.query(sql`
    DELETE FROM recovery_codes WHERE account_id = ${accountId} AND member_id = ${memberId}
      AND hash = ${recoveryCodeHash(memberId, code)} RETURNING 1`);
  return used.length > 0 ? "right" : "wrong";
}

/** Checks a code that the member typed: six digits are a code of the app, any other text is a recovery code. */
export async function useCode(tx: Transaction, who: MemberRef, text: string, keys: SecretsKeys, now: number): Promise<CodeVerdict> {
  const code = appCodeOf(text);
  return code === undefined ? useRecoveryCode(tx, who, text) : useAppCode(tx, { ...who, state: "enabled" }, code, keys, now);
}

/** Makes a prepared app a second factor. */
export async function enableApp(tx: Transaction, { accountId, memberId }: MemberRef, now: number): Promise<void> {
  await tx.query(sql`UPDATE authenticator_apps SET enabled_at = ${now} WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/** Removes the member's app, and the recovery codes if no factor is left. @returns whether there was one */
export async function removeApp(tx: Transaction, who: MemberRef): Promise<boolean> {
  const { accountId, memberId } = who;
  const gone = await tx.query(sql`
    DELETE FROM authenticator_apps WHERE account_id = ${accountId} AND member_id = ${memberId} AND enabled_at IS NOT NULL RETURNING 1`);
  await removeUnusedRecoveryCodes(tx, who);
  return gone.length > 0;
}

/** Removes the recovery codes of a member without a second factor. */
export async function removeUnusedRecoveryCodes(tx: Transaction, who: MemberRef): Promise<void> {
  if (!(await hasFactor(tx, who))) await removeRecoveryCodes(tx, who);
}

/** Replaces the member's recovery codes. @returns the new ones; the database stores their hashes */
export async function makeRecoveryCodes(tx: Transaction, who: MemberRef): Promise<string[]> {
  await removeRecoveryCodes(tx, who);
  const codes = newRecoveryCodes();
  for (const code of codes) {
    await tx.query(sql`
      INSERT INTO recovery_codes (account_id, member_id, hash) VALUES (${who.accountId}, ${who.memberId}, ${recoveryCodeHash(who.memberId, code)})`);
  }
  return codes;
}

async function removeRecoveryCodes(tx: Transaction, { accountId, memberId }: MemberRef): Promise<void> {
  await tx.query(sql`DELETE FROM recovery_codes WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/** Whether the member has a second factor. */
export async function hasFactor(db: Queryable, { accountId, memberId }: MemberRef): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM members WHERE account_id = ${accountId} AND id = ${memberId} AND ${raw(factorCondition)}`);
  return rows.length > 0;
}

/** Removes all second factors and recovery codes of a member, and ends the sign-ins that wait for one. */
export async function removeFactors(tx: Transaction, who: MemberRef): Promise<void> {
  const { accountId, memberId } = who;
  await tx.query(sql`DELETE FROM authenticator_apps WHERE account_id = ${accountId} AND member_id = ${memberId}`);
  await tx.query(sql`DELETE FROM passkeys WHERE account_id = ${accountId} AND member_id = ${memberId}`);
  await removeRecoveryCodes(tx, who);
  await endPending(tx, who);
}

/** Starts a sign-in that waits for its second step. @returns the token for the cookie; the database stores its hash */
export async function insertPending(tx: Transaction, { accountId, memberId }: MemberRef, now: number): Promise<string> {
  const token = makeToken();
  await tx.query(sql`
    INSERT INTO pending_sign_ins (account_id, hash, member_id, expires_at)
    VALUES (${accountId}, ${hashToken(token)}, ${memberId}, ${now + pendingMs})`);
  await tx.query(sql`
    DELETE FROM pending_sign_ins WHERE account_id = ${accountId} AND member_id = ${memberId} AND hash NOT IN
      (SELECT hash FROM pending_sign_ins WHERE account_id = ${accountId} AND member_id = ${memberId}
        ORDER BY expires_at DESC, hash ${limitTo(pendingMax)})`);
  return token;
}

/** Finds the member of a sign-in that waits for its second step; undefined if it has ended. */
export async function findPending(db: Queryable, token: string, now: number): Promise<MemberRef | undefined> {
  const [row] = await db.query(sql`
    SELECT account_id, member_id FROM pending_sign_ins WHERE hash = ${hashToken(token)} AND expires_at > ${now}`);
  return row && { accountId: Number(row["account_id"]), memberId: Number(row["member_id"]) };
}

/** Ends a sign-in that waits for its second step. @returns whether it was still waiting: of simultaneous calls, one gets true */
export async function claimPending(tx: Transaction, token: string, now: number): Promise<boolean> {
  const rows = await tx.query(sql`DELETE FROM pending_sign_ins WHERE hash = ${hashToken(token)} AND expires_at > ${now} RETURNING 1`);
  return rows.length > 0;
}

/** Ends all of a member's sign-ins that wait for their second step. */
export async function endPending(tx: Transaction, { accountId, memberId }: MemberRef): Promise<void> {
  await tx.query(sql`DELETE FROM pending_sign_ins WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/** Deletes all sign-ins whose second step took too long. */
export async function deleteExpiredPending(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM pending_sign_ins WHERE (account_id, hash) IN
        (SELECT account_id, hash FROM pending_sign_ins WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
  );
}
