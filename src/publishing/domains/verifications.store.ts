import sql from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import type { StoredDomain } from "./domain-rows.ts";
import type { Verification } from "./ownership.ts";

/** Every account that ever verified a name of a registrable domain, and when it last did. */
export async function listVerifications(db: Queryable, registrableDomain: string): Promise<Verification[]> {
  const rows = await db.query<{ account_id: number; verified_at: number }>(sql`
    SELECT account_id, MAX(verified_at) AS verified_at FROM verifications WHERE registrable_domain = ${registrableDomain} GROUP BY account_id`);
  return rows.map((row) => ({ accountId: row.account_id, verifiedAt: row.verified_at }));
}

export async function recordVerification(
  tx: Transaction,
  { accountId, hostname, registrableDomain }: StoredDomain,
  now: number,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO verifications (account_id, hostname, registrable_domain, verified_at)
    VALUES (${accountId}, ${hostname}, ${registrableDomain}, ${now})
    ON CONFLICT (account_id, hostname) DO UPDATE SET verified_at = excluded.verified_at`);
}
