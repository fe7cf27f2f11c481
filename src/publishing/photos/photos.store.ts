import sql, { bulk, empty, join } from "sql-template-tag";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { Problem } from "../../platform/problem.ts";
import { changePublishedBytes } from "../../platform/storage-quotas.ts";
import type { PhotoForm } from "./photos.ts";

/** The lock under which content is claimed and unclaimed content is removed. */
const contentLock = "content";

/**
 * Marks content as unused before it is written to the folder of a single process: if the process is killed before a photo has it, the next one
 * removes it. Nodes that share content find it by its age instead.
 */
export async function markBeforeUse(db: Database, hashes: readonly string[]): Promise<void> {
  if (db.engine !== "sqlite" || hashes.length === 0) return;
  const rows = hashes.map((hash) => [hash]);
  await db.write((tx) => tx.query(sql`INSERT INTO unused_files (hash) VALUES ${bulk(rows)} ON CONFLICT (hash) DO NOTHING`));
}

/**
 * Gives a new photo its forms and counts their bytes. Their content stays from now on, if `requireStored` has found it. When the rows are
 * deleted, the database subtracts the bytes and marks the content as unused.
 *
 * @throws Problem `storage_limit_reached`
 */
export async function insertForms(
  tx: Transaction,
  { accountId, photoId }: { accountId: number; photoId: number },
  forms: readonly PhotoForm[],
): Promise<void> {
  await changePublishedBytes(tx, accountId, async () => {
    const rows = forms.map(({ type, width, height, hash, bytes }) => [accountId, photoId, type, width, height, hash, bytes]);
    await tx.query(sql`INSERT INTO photo_files (account_id, photo_id, type, width, height, hash, bytes) VALUES ${bulk(rows)}`);
    return forms.reduce((sum, { bytes }) => sum + bytes, 0);
  });
}

/**
 * Locks content until commit, so that none of these forms is removed as unused.
 *
 * @throws Problem `unavailable` if one was: another photo with the same bytes may just have been deleted, and its content with it
 */
export async function requireStored(tx: Transaction, engine: Database["engine"], forms: readonly PhotoForm[]): Promise<void> {
  await tx.lock(contentLock);
  if (engine === "sqlite") return; // the process holds what it has written
  const hashes = [...new Set(forms.map(({ hash }) => hash))];
  const rows = await tx.query(sql`SELECT 1 FROM blobs WHERE name IN (${join(hashes)})`);
  if (rows.length === hashes.length) return;
  throw new Problem("unavailable", "The same picture is being deleted at the moment. Try again.", { headers: { "retry-after": "1" } });
}

/**
 * The size of a form in bytes; undefined if no photo of the account, or of any account, has it. What is in the bin counts only for the address of all
 * accounts, where the dashboard shows it: no site of the account has it any more.
 */
export async function findForm(
  db: Database,
  { hash, type }: { hash: string; type: string },
  accountId: number | undefined,
): Promise<number | undefined> {
  const own = accountId === undefined ? db : db.as({ caller: accountId });
  const inBin =
    accountId === undefined ? sql`UNION ALL SELECT account_id, bytes FROM bin_photo_files WHERE hash = ${hash} AND type = ${type}` : empty;
  const rows = await own.query<{ account_id: number; bytes: number }>(
    sql`SELECT account_id, bytes FROM photo_files WHERE hash = ${hash} AND type = ${type} ${inBin} ORDER BY account_id`,
  );
  return rows.find((row) => accountId === undefined || row.account_id === accountId)?.bytes;
}
