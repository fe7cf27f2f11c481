import { randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import type { StoredDomain } from "./domains.store.ts";
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

const proofSecretName = "ownership proofs";

/** The key that the tokens of ownership proofs are computed with: 32 bytes that all nodes share. The first node makes them. */
export async function readProofSecret(db: Database, keys: SecretsKeys): Promise<Buffer> {
  const find = async (from: Pick<Queryable, "query">): Promise<string | undefined> =>
    (await from.query<{ envelope: string }>(sql`SELECT envelope FROM secrets WHERE name = ${proofSecretName}`))[0]?.envelope;
  const make = (): Promise<string> =>
    db.write(async (tx) => {
      const fresh = encryptSecret(keys, randomBytes(32).toString("base64"), proofSecretName);
      await tx.query(sql`INSERT INTO secrets (name, envelope) VALUES (${proofSecretName}, ${fresh}) ON CONFLICT (name) DO NOTHING`);
      return (await find(tx))!;
    });
  const envelope = (await find(db)) ?? (await make());
  return Buffer.from(decryptSecret(keys, envelope, proofSecretName), "base64");
}
