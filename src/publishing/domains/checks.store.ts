import sql from "sql-template-tag";
import type { Transaction } from "../../platform/db/database.ts";
import { claimByAccount, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/nodes.ts";
import { claimDue } from "./domains.store.ts";
import type { StoredDomain } from "./domain-rows.ts";

/** Leases domains whose check is due, in turns by account. */
export async function claimChecks(tx: Transaction, share: ClaimShare, by: RowClaim): Promise<StoredDomain[]> {
  await tx.lock("claims of checks");
  const due = sql`next_check_at <= ${by.now} AND ${by.isFree(sql`check_lease_until`, sql`check_lease_life`)}`;
  const lease = sql`check_lease_until = ${by.lease.until}, check_lease_life = ${by.lease.leaseId}`;
  return claimByAccount(share, sql`account_id`, (uncrowded, room) =>
    claimDue(tx, "domains", sql`${due} ${uncrowded}`, lease, sql`next_check_at`, room),
  );
}

/** Locks a domain until commit. Returns false if this lease no longer holds its check. */
export async function lockCheck(tx: Transaction, { accountId, id }: StoredDomain, { until, leaseId }: RowLease): Promise<boolean> {
  const rows = await tx.query(sql`
    SELECT 1 FROM domains WHERE account_id = ${accountId} AND id = ${id}
      AND check_lease_until = ${until} AND check_lease_life = ${leaseId}${tx.forUpdate}`);
  return rows.length > 0;
}

/** The shortest time between two checks that other accounts cause by asking for a name. */
const contestEveryMs = 60_000;

/** Makes the next check of a name due now, because another account has asked for the name. */
export async function checkContestedNow(tx: Transaction, { accountId, id }: StoredDomain, now: number): Promise<void> {
  await tx.query(sql`
    UPDATE domains SET next_check_at = ${now}, contested_at = ${now} WHERE account_id = ${accountId} AND id = ${id}
      AND next_check_at > ${now} AND (contested_at IS NULL OR contested_at <= ${now - contestEveryMs})`);
}
