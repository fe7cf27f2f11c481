import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import sql, { raw } from "sql-template-tag";
import type { Transaction } from "./database.ts";
import { saveLogState } from "./sqlite-files.ts";
import { recoverLog } from "./sqlite-recovery.ts";

/** Free pages that stay in the file for later writes: this many, or this share of the file if that is more. */
const pagesKept = 1_024;
const shareKept = 0.05;
/** Pages that one transaction gives back: about a millisecond, so that no other write waits longer. */
const pagesPerStep = 100;
/** `auto_vacuum = INCREMENTAL`, which a file has from its first page on or after `compactFile`. */
const incremental = 2;

/** `isDone`: whether the step gave back the last pages; `isMore`: whether further steps would give back more. */
export type SpaceStep = { isDone: boolean; isMore: boolean };

/** Moves the last pages of the file into free ones and cuts them off. The file itself gets shorter at the next checkpoint. */
export async function giveBackPages(tx: Transaction): Promise<SpaceStep> {
  const [free = 0, count = 0, mode] = [await pragma(tx, "freelist_count"), await pragma(tx, "page_count"), await pragma(tx, "auto_vacuum")];
  const spare = mode === incremental ? free - Math.max(pagesKept, Math.ceil(count * shareKept)) : 0;
  if (spare <= 0) return { isDone: false, isMore: false };
  await tx.query(sql`PRAGMA incremental_vacuum(${raw(String(Math.min(spare, pagesPerStep)))})`);
  return { isDone: spare <= pagesPerStep, isMore: spare > pagesPerStep };
}

async function pragma(tx: Transaction, name: string): Promise<number | undefined> {
  const [row] = await tx.query(sql`PRAGMA ${raw(name)}`);
  return row && Number(Object.values(row)[0]);
}

/**
 * Rewrites a database that nothing else uses: without free pages, and so that it gives space back from then on. If this ends early, the file stays
 * as it was.
 *
 * @returns the length of the file in bytes, before and after
 * @throws DamagedLogError, LostLogError; Error of SQLite, as on a full disk
 */
export function compactFile(file: string): { before: number; after: number } {
  recoverLog(file);
  const before = statSync(file).size;
  const connection = new DatabaseSync(file, { timeout: 5_000 });
  try {
    connection.exec("PRAGMA synchronous = FULL; PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    connection.close();
  }
  saveLogState(file, undefined); // the log is empty
  return { before, after: statSync(file).size };
}
