import sql from "sql-template-tag";
import { dayMs, type NowRange } from "../clock.ts";
import { writeInBatches } from "../db/batches.ts";
import type { Database, Queryable, Transaction } from "../db/database.ts";

/** How long an answer is kept for its Idempotency-Key, at least (specification 1.8). */
export const keptMs = dayMs;

/** What identifies a kept answer: the account, `POST /v1/…`, and the client's key. */
export type Slot = { accountId: number; target: string; key: string };

export type KeptAnswer = { bodyHash: string; status: number; headers: Record<string, string>; body: string | null };

/** The answer kept for this key, unless it was made at `since` (ms) or before. */
export async function findAnswer(db: Queryable, slot: Slot, since: number): Promise<KeptAnswer | undefined> {
  const [row] = await db.query<{ body_hash: string; status: number; headers: string; body: string | null }>(sql`
    SELECT body_hash, status, headers, body FROM idempotency
    WHERE account_id = ${slot.accountId} AND target = ${slot.target} AND key = ${slot.key} AND created_at > ${since}`);
  return row && { bodyHash: row.body_hash, status: row.status, headers: JSON.parse(row.headers) as Record<string, string>, body: row.body };
}

/** Keeps an answer in the transaction of its change. */
export async function keepAnswer(tx: Transaction, slot: Slot, answer: KeptAnswer, now: number): Promise<void> {
  const { bodyHash, status, headers, body } = answer;
  await tx.query(sql`
    INSERT INTO idempotency (account_id, target, key, body_hash, status, headers, body, created_at)
    VALUES (${slot.accountId}, ${slot.target}, ${slot.key}, ${bodyHash}, ${status}, ${JSON.stringify(headers)}, ${body}, ${now})
    ON CONFLICT (account_id, target, key) DO UPDATE SET
      body_hash = excluded.body_hash, status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`);
}

/** Deletes the answers that are older than `answersKeptMs`. Default: 24 hours. */
export async function forgetOldAnswers(db: Database, { earliest }: NowRange, answersKeptMs = keptMs): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM idempotency WHERE (account_id, target, key) IN
        (SELECT account_id, target, key FROM idempotency WHERE created_at <= ${earliest - answersKeptMs} ${limit}) RETURNING 1`,
  );
}
