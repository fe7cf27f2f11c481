import sql from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";

export type StoredChallenge = {
  accountId: number;
  hostname: string;
  type: "http-01" | "tls-alpn-01";
  token: string;
  keyAuthorization: string;
  certificate: string | null;
  /** Encrypted for the host name. */
  certificateKey: string | null;
  expiresAt: number;
};

export async function saveChallenge(tx: Transaction, one: StoredChallenge): Promise<void> {
  await tx.query(sql`
    INSERT INTO challenges (account_id, hostname, type, token, key_authorization, certificate, certificate_key, expires_at)
    VALUES (${one.accountId}, ${one.hostname}, ${one.type}, ${one.token}, ${one.keyAuthorization}, ${one.certificate},
      ${one.certificateKey}, ${one.expiresAt})
    ON CONFLICT (account_id, hostname, type) DO UPDATE SET token = excluded.token, key_authorization = excluded.key_authorization,
      certificate = excluded.certificate, certificate_key = excluded.certificate_key, expires_at = excluded.expires_at`);
}

export async function deleteChallenges(tx: Transaction, accountId: number, hostname: string): Promise<void> {
  await tx.query(sql`DELETE FROM challenges WHERE account_id = ${accountId} AND hostname = ${hostname}`);
}

/** Deletes challenges that have expired. */
export async function deleteExpiredChallenges(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM challenges WHERE (account_id, hostname, type) IN
      (SELECT account_id, hostname, type FROM challenges WHERE expires_at <= ${now} ${limit}) RETURNING 1`,
  );
  await db.write((tx) => tx.query(sql`DELETE FROM own_challenges WHERE expires_at <= ${now}`)); // a few rows at most, so no batches
}
