import sql from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";

/** The account's key at an authority, encrypted for the directory's address, made where there is none. */
export async function keepAccountKey(tx: Transaction, directoryUrl: string, envelope: string): Promise<string> {
  await tx.query(
    sql`INSERT INTO acme_accounts (directory_url, key) VALUES (${directoryUrl}, ${envelope}) ON CONFLICT (directory_url) DO NOTHING`,
  );
  const [row] = await tx.query<{ key: string }>(sql`SELECT key FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row!.key;
}

export async function findAccountKey(db: Queryable, directoryUrl: string): Promise<string | null> {
  const [row] = await db.query<{ key: string }>(sql`SELECT key FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row?.key ?? null;
}

/** A secret that all nodes share: the one that is kept, or this one. */
export async function keepSecret(tx: Transaction, name: string, envelope: string): Promise<string> {
  await tx.query(sql`INSERT INTO secrets (name, envelope) VALUES (${name}, ${envelope}) ON CONFLICT (name) DO NOTHING`);
  const [row] = await tx.query<{ envelope: string }>(sql`SELECT envelope FROM secrets WHERE name = ${name}`);
  return row!.envelope;
}
