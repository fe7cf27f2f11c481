import sql from "sql-template-tag";
import type { Clock } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { recordAttention, domainFromRow, type DomainRow, type StoredDomain, hasPaidPlan } from "./domains.store.ts";
import { nextTroubleAt, recordedTroubles, troublesOf, type RecordedTrouble } from "./troubles.ts";

const pollEveryMs = 5_000;
const atOnceMax = 16;

/** Records troubles of names that arise as time passes, or from their certificates and plans (specification 8.2). */
export function openTroublesWorker({ db, clock, onError }: { db: Database; clock: Clock; onError: (error: unknown) => void }): Worker {
  return openWorker<TroubledName>({
    claim: (count) => db.write((tx) => claimTroubles(tx, count, clock())),
    run: (domain) => db.write((tx) => noteTroublesOf(tx, domain, clock())),
    atOnceMax,
    everyMs: pollEveryMs,
    onError,
  });
}

type TroubledName = Pick<StoredDomain, "accountId" | "hostname">;

/** A claimed name becomes due again after this time (ms), in case the process ends before it reviews the name. */
const claimedMs = 60_000;

/** Claims up to `count` names whose troubles may have changed. */
export async function claimTroubles(tx: Transaction, count: number, now: number): Promise<TroubledName[]> {
  const rows = await tx.query<{ account_id: number; hostname: string }>(sql`
    UPDATE domain_troubles SET due_at = ${now + claimedMs} WHERE (account_id, hostname) IN (
      SELECT account_id, hostname FROM domain_troubles WHERE due_at <= ${now} ORDER BY due_at ${limitTo(count)}${tx.skipLocked("domain_troubles")})
    RETURNING account_id, hostname`);
  return rows.map((row) => ({ accountId: row.account_id, hostname: row.hostname }));
}

/** Reviews the troubles of a claimed name, which may have changed or been removed since. */
async function noteTroublesOf(tx: Transaction, { accountId, hostname }: TroubledName, now: number): Promise<void> {
  const [row] = await tx.query<DomainRow>(
    sql`SELECT * FROM domains WHERE account_id = ${accountId} AND hostname = ${hostname}${tx.forUpdate}`,
  );
  if (row) await noteTroubles(tx, domainFromRow(row), now);
}

/** Records each new trouble of a locked name once. While the trouble lasts, it is not recorded again; if it ends and returns, it is. */
export async function noteTroubles(tx: Transaction, domain: StoredDomain, now: number): Promise<void> {
  const { accountId, hostname } = domain;
  const isPaid = await hasPaidPlan(tx, accountId);
  const troubles = recordedTroubles(troublesOf(domain, { isPaid, waitsFor: null }, now));
  const nextAt = domain.status === "pending" || !isPaid ? null : nextTroubleAt(domain, now);
  const [row] = await tx.query<{ troubles: string }>(sql`
    SELECT troubles FROM domain_troubles WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  const recorded = (row?.troubles ?? "").split(" ").filter(Boolean) as RecordedTrouble[];
  await tx.query(sql`
    INSERT INTO domain_troubles (account_id, hostname, troubles, due_at) VALUES (${accountId}, ${hostname}, ${troubles.join(" ")}, ${nextAt})
    ON CONFLICT (account_id, hostname) DO UPDATE SET troubles = excluded.troubles, due_at = excluded.due_at`);
  if (troubles.some((trouble) => !recorded.includes(trouble))) recordAttention(tx, domain, troubles, recorded);
}
