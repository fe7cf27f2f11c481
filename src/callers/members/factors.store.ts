import sql, { raw } from "sql-template-tag";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import {
  appCodeOf,
  newRecoveryCodes,
  pendingMax,
  pendingMs,
  recoveryCodeHash,
  wrongCodesMax,
  wrongCodesMs,
  type Factors,
} from "./factors.ts";
import { hashToken, makeToken } from "./members.ts";
import { newTotpSecret, stepOfCode } from "./totp.ts";

export type Who = { accountId: number; memberId: number };

/** Whether the row of `members` has a second factor, as SQL. */
export const factorCondition = `(EXISTS (SELECT 1 FROM authenticator_apps
  WHERE authenticator_apps.account_id = members.account_id AND member_id = members.id AND enabled_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.account_id = members.account_id AND member_id = members.id))`;

/** Returns a member's second factors. */
export async function findFactors(db: Queryable, { accountId, memberId }: Who): Promise<Factors> {
  const [row] = await db.query(sql`
    SELECT (SELECT enabled_at FROM authenticator_apps WHERE account_id = ${accountId} AND member_id = ${memberId}) AS enabled_at,
      (SELECT COUNT(*) FROM recovery_codes WHERE account_id = ${accountId} AND member_id = ${memberId}) AS codes`);
  const enabledAt = row?.["enabled_at"] ?? null;
  return { app: enabledAt === null ? null : { enabledAt: Number(enabledAt) }, recoveryCodesLeft: Number(row?.["codes"]) };
}

/** Locks a member's second factors, so that each change sees the one before. */
export function lockFactors(tx: Transaction, { accountId, memberId }: Who): Promise<void> {
  return tx.lock(`factors ${accountId} ${memberId}`);
}

/** Saves a new secret for an authenticator app, which counts once it is enabled. Replaces one that is not. @returns the secret */
export async function prepareApp(tx: Transaction, { accountId, memberId }: Who, keys: SecretsKeys): Promise<string> {
  const secret = newTotpSecret();
  const envelope = encryptSecret(keys, secret, String(memberId));
  await tx.query(sql`
    INSERT INTO authenticator_apps (account_id, member_id, secret, used_step, wrong, wrong_since) VALUES (${accountId}, ${memberId}, ${envelope}, 0, 0, 0)
    ON CONFLICT (account_id, member_id) DO UPDATE SET secret = excluded.secret WHERE authenticator_apps.enabled_at IS NULL`);
  return secret;
}

/** Whether a code was right; `none` if there is nothing to compare it with; after too many wrong ones, when (ms) codes are compared again. */
export type CodeVerdict = "right" | "wrong" | "none" | { blockedUntil: number };

/**
 * Accepts a code of the member's authenticator app, of each step once: of simultaneous attempts with one code, one is right. Counts each
 * attempt before comparing it, so commit the transaction also if the code is wrong.
 *
 * @param state whether the app is enabled already, or is about to be
 */
export async function useAppCode(
  tx: Transaction,
  who: Who & { state: "enabled" | "prepared" },
  code: string,
  keys: SecretsKeys,
  now: number,
): Promise<CodeVerdict> {
  const isApp = sql`account_id = ${who.accountId} AND member_id = ${who.memberId}
    AND enabled_at IS ${who.state === "enabled" ? sql`NOT NULL` : sql`NULL`}`;
  // A day begins with a wrong code, and also ends if the clock was set back.
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

/** Uses a recovery code: of simultaneous attempts with one code, one is right. */
async function useRecoveryCode(tx: Transaction, { accountId, memberId }: Who, code: string): Promise<CodeVerdict> {
  const used = await tx.query(sql`
    DELETE FROM recovery_codes WHERE account_id = ${accountId} AND member_id = ${memberId}
      AND hash = ${recoveryCodeHash(memberId, code)} RETURNING 1`);
  return used.length > 0 ? "right" : "wrong";
}

/** Uses what the member typed as a second factor: six digits are a code of the app, anything else is a recovery code. */
export async function useCode(tx: Transaction, who: Who, text: string, keys: SecretsKeys, now: number): Promise<CodeVerdict> {
  const code = appCodeOf(text);
  return code === undefined ? useRecoveryCode(tx, who, text) : useAppCode(tx, { ...who, state: "enabled" }, code, keys, now);
}

/** Makes an app count from now on. */
export async function enableApp(tx: Transaction, { accountId, memberId }: Who, now: number): Promise<void> {
  await tx.query(sql`UPDATE authenticator_apps SET enabled_at = ${now} WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/** Removes the member's app, and the recovery codes if no factor is left. @returns whether there was one */
export async function removeApp(tx: Transaction, who: Who): Promise<boolean> {
  const { accountId, memberId } = who;
  const gone = await tx.query(sql`
    DELETE FROM authenticator_apps WHERE account_id = ${accountId} AND member_id = ${memberId} AND enabled_at IS NOT NULL RETURNING 1`);
  await removeUnusedRecoveryCodes(tx, who);
  return gone.length > 0;
}

/** Removes the recovery codes of a member without a second factor. */
export async function removeUnusedRecoveryCodes(tx: Transaction, who: Who): Promise<void> {
  if (!(await hasFactor(tx, who))) await removeRecoveryCodes(tx, who);
}

/** Replaces the member's recovery codes. @returns the new ones, which are stored nowhere */
export async function makeRecoveryCodes(tx: Transaction, who: Who): Promise<string[]> {
  await removeRecoveryCodes(tx, who);
  const codes = newRecoveryCodes();
  for (const code of codes) {
    await tx.query(sql`
      INSERT INTO recovery_codes (account_id, member_id, hash) VALUES (${who.accountId}, ${who.memberId}, ${recoveryCodeHash(who.memberId, code)})`);
  }
  return codes;
}

async function removeRecoveryCodes(tx: Transaction, { accountId, memberId }: Who): Promise<void> {
  await tx.query(sql`DELETE FROM recovery_codes WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/** Whether a password alone does not sign the member in. */
export async function hasFactor(db: Queryable, { accountId, memberId }: Who): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM members WHERE account_id = ${accountId} AND id = ${memberId} AND ${raw(factorCondition)}`);
  return rows.length > 0;
}

/** Removes all second factors and recovery codes of a member, and ends the sign-ins that wait for one. */
export async function removeFactors(tx: Transaction, who: Who): Promise<void> {
  const { accountId, memberId } = who;
  await tx.query(sql`DELETE FROM authenticator_apps WHERE account_id = ${accountId} AND member_id = ${memberId}`);
  await tx.query(sql`DELETE FROM passkeys WHERE account_id = ${accountId} AND member_id = ${memberId}`);
  await removeRecoveryCodes(tx, who);
  await endPending(tx, who);
}

/** Starts a sign-in that waits for its second step. @returns the token for the browser's cookie, which is stored nowhere */
export async function beginPending(tx: Transaction, { accountId, memberId }: Who, now: number): Promise<string> {
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
export async function findPending(db: Queryable, token: string, now: number): Promise<Who | undefined> {
  const [row] = await db.query(sql`
    SELECT account_id, member_id FROM pending_sign_ins WHERE hash = ${hashToken(token)} AND expires_at > ${now}`);
  return row && { accountId: Number(row["account_id"]), memberId: Number(row["member_id"]) };
}

/** Ends a sign-in that waits for its second step. @returns whether it was still waiting: of simultaneous attempts, one gets true */
export async function takePending(tx: Transaction, token: string, now: number): Promise<boolean> {
  const rows = await tx.query(sql`DELETE FROM pending_sign_ins WHERE hash = ${hashToken(token)} AND expires_at > ${now} RETURNING 1`);
  return rows.length > 0;
}

/** Ends all of a member's sign-ins that wait for their second step. */
export async function endPending(tx: Transaction, { accountId, memberId }: Who): Promise<void> {
  await tx.query(sql`DELETE FROM pending_sign_ins WHERE account_id = ${accountId} AND member_id = ${memberId}`);
}

/** Deletes all sign-ins whose second step came too late. */
export async function forgetPending(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM pending_sign_ins WHERE (account_id, hash) IN
        (SELECT account_id, hash FROM pending_sign_ins WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
  );
}
