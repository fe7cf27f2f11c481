import sql, { join, raw, type Sql } from "sql-template-tag";
import { limitTo } from "../platform/db/batches.ts";
import type { Database, Queryable, Row, Transaction } from "../platform/db/database.ts";
import { encryptedColumns, type EncryptedColumn } from "../platform/encrypted-columns.ts";
import { envelopeStart } from "../platform/secrets.ts";

/** How many rows one transaction changes, so that no other write waits long. */
const batchMax = 100;

const startLength = envelopeStart("00000000").length;
const startOf = (column: string): Sql => sql`substr(${raw(column)}, 1, ${raw(String(startLength))})`;

/** Returns the ids of all keys that encrypted a secret in the database. */
export async function usedKeyIds(db: Queryable): Promise<Set<string>> {
  const used = new Set<string>();
  for (const { table, column } of encryptedColumns) {
    const start = startOf(column);
    let last = "";
    for (;;) {
      // Takes one step along the index for each id, however many rows have it.
      const [row] = await db.query<{ start: string }>(sql`
        SELECT ${start} AS start FROM ${raw(table)} WHERE ${start} > ${last} ORDER BY ${start} LIMIT 1`);
      if (row === undefined) break;
      last = row.start;
      used.add(last.slice(envelopeStart("").length));
    }
  }
  return used;
}

/** Counts the secrets that these keys encrypted. */
export async function countEncrypted(db: Queryable, keyIds: readonly string[]): Promise<number> {
  if (keyIds.length === 0) return 0;
  const starts = keyIds.map(envelopeStart);
  let count = 0;
  for (const { table, column } of encryptedColumns) {
    const [row] = await db.query(sql`SELECT COUNT(*) AS count FROM ${raw(table)} WHERE ${startOf(column)} IN (${join(starts)})`);
    count += Number(row!["count"]);
  }
  return count;
}

/**
 * Encrypts again one batch of the secrets that these keys encrypted, in one transaction, and returns how many. Does not overwrite a secret that has
 * changed in the meantime.
 *
 * @param encrypt returns the new envelope of an owner's secret
 * @throws Error that names the row, if its secret cannot be decrypted
 */
export async function encryptAgain(
  db: Pick<Database, "write">,
  keyIds: readonly string[],
  encrypt: (envelope: string, owner: string) => string,
): Promise<number> {
  for (const column of encryptedColumns) {
    for (const keyId of keyIds) {
      const count = await db.write((tx) => encryptBatch(tx, column, keyId, encrypt));
      if (count > 0) return count;
    }
  }
  return 0;
}

async function encryptBatch(
  tx: Transaction,
  { table, column, key, owner }: EncryptedColumn,
  keyId: string,
  encrypt: (envelope: string, owner: string) => string,
): Promise<number> {
  const rows = await tx.query(sql`
    SELECT ${raw(key.join(", "))}, ${raw(column)} AS envelope FROM ${raw(table)}
    WHERE ${startOf(column)} = ${envelopeStart(keyId)} ${limitTo(batchMax)}`);
  const idOf = (row: Row): string => key.map((name) => row[name]).join(" ");
  // In a fixed order, so that two commands that run at once cannot deadlock.
  for (const row of rows.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))) {
    const before = String(row["envelope"]);
    const after = encryptNamed(before, String(row[owner]), `${table} ${idOf(row)}`, encrypt);
    const isRow = join(
      key.map((name) => sql`${raw(name)} = ${row[name] as string | number}`),
      " AND ",
    );
    await tx.query(sql`UPDATE ${raw(table)} SET ${raw(column)} = ${after} WHERE ${isRow} AND ${raw(column)} = ${before}`);
  }
  return rows.length;
}

function encryptNamed(envelope: string, owner: string, row: string, encrypt: (envelope: string, owner: string) => string): string {
  try {
    return encrypt(envelope, owner);
  } catch (error) {
    throw new Error(`${row} cannot be decrypted: ${(error as Error).message}`, { cause: error });
  }
}
