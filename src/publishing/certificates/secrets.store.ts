import sql from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";

/** Returns the saved key of the account at an authority, encrypted for the URL of its directory. Saves `envelope` if there is none. */
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

/** Saves whether the system's roots trust what an authority issues. */
export async function saveAuthorityTrust(tx: Transaction, directoryUrl: string, isTrusted: boolean): Promise<void> {
  await tx.query(sql`UPDATE acme_accounts SET is_trusted = ${isTrusted} WHERE directory_url = ${directoryUrl}`);
}

/** Whether the system's roots trust what an authority issues; undefined until it has issued a certificate. */
export async function findAuthorityTrust(db: Queryable, directoryUrl: string): Promise<boolean | undefined> {
  const [row] = await db.query<{ is_trusted: boolean | number | null }>(sql`
    SELECT is_trusted FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row?.is_trusted === null || row === undefined ? undefined : Boolean(row.is_trusted);
}

/** Returns the saved secret of this name, which all nodes share. Saves `envelope` if there is none. */
export async function keepSecret(tx: Transaction, name: string, envelope: string): Promise<string> {
  await tx.query(sql`INSERT INTO secrets (name, envelope) VALUES (${name}, ${envelope}) ON CONFLICT (name) DO NOTHING`);
  const [row] = await tx.query<{ envelope: string }>(sql`SELECT envelope FROM secrets WHERE name = ${name}`);
  return row!.envelope;
}
