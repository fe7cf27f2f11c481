import sql from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { claimByAccount, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim } from "../../platform/nodes/nodes.ts";
import { deleteUnusedCategories } from "../categories/categories.store.ts";
import { staysListedMax, type StayingPet } from "./imports.ts";
import { eventOf, findImport, type StoredImport } from "./imports.store.ts";

/** Counts the pets of a step of an undo, and adds those that it leaves as they are. */
export async function addUndone(
  tx: Transaction,
  accountId: number,
  { shown }: StoredImport,
  { undone, staying }: { undone: number; staying: readonly StayingPet[] },
): Promise<void> {
  const listed = [...(shown.stays?.pets ?? []), ...staying].slice(0, staysListedMax);
  await tx.query(sql`
    UPDATE imports SET undone = undone + ${undone}, stays = stays + ${staying.length}, stays_listed = ${JSON.stringify(listed)},
      version = version + 1
    WHERE account_id = ${accountId} AND id = ${shown.id}`);
}

/** Ends the undo of a locked import: deletes the categories that it made and nobody uses. */
export async function finishUndo(tx: Transaction, accountId: number, id: number, now: number): Promise<void> {
  const [row] = await tx.query<{ categories: string }>(sql`SELECT categories FROM imports WHERE account_id = ${accountId} AND id = ${id}`);
  await deleteUnusedCategories(tx, accountId, JSON.parse(row?.categories ?? "[]") as number[]);
  await tx.query(sql`
    UPDATE imports SET status = 'undone', undone_at = ${now}, due_at = NULL, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id}`);
  tx.record(eventOf(accountId, "import.undone", await findImport(tx, accountId, id)));
}

/** Makes a finished import one that cannot be undone any more. */
export async function endUndoTime(tx: Transaction, accountId: number, id: number): Promise<void> {
  await tx.query(sql`UPDATE imports SET due_at = NULL WHERE account_id = ${accountId} AND id = ${id}`);
}

/** An import that is due, with who asked to undo it. */
export type DueImport = { accountId: number; id: number; undoneBy: string | null };

/** Claims imports that are due: to be ended, undone, or forgotten. */
export async function claimDue(tx: Transaction, share: ClaimShare, { lease, now, isFree }: RowClaim): Promise<DueImport[]> {
  await tx.lock("claims of imports");
  const due = sql`due_at <= ${now} AND ${isFree(sql`lease_until`, sql`lease_id`)}`;
  return claimByAccount(share, sql`account_id`, async (uncrowded, room) => {
    const rows = await tx.query<{ account_id: number; id: number; undone_by: string | null }>(sql`
      UPDATE imports SET lease_until = ${lease.until}, lease_id = ${lease.leaseId}
      WHERE ${due} AND (account_id, id) IN (
        SELECT account_id, id FROM imports WHERE ${due} ${uncrowded} ORDER BY due_at ${limitTo(room)}${tx.skipLocked("imports")})
      RETURNING account_id, id, undone_by`);
    return rows.map((row) => ({ accountId: row.account_id, id: row.id, undoneBy: row.undone_by }));
  });
}

/** Ends the lease of an import, which may be claimed again from `dueAt` on if it is still due. */
export async function releaseDue(tx: Transaction, { accountId, id }: DueImport, dueAt: number): Promise<void> {
  await tx.query(sql`
    UPDATE imports SET lease_until = NULL, lease_id = NULL, due_at = CASE WHEN due_at < ${dueAt} THEN ${dueAt} ELSE due_at END
    WHERE account_id = ${accountId} AND id = ${id}`);
}
