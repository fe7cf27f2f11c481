import sql, { join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/nodes.ts";
import { makeDeliveriesDue, saveDelivery, trimDeliveries, waitingDeliveries, type SavedDelivery } from "./deliveries.store.ts";
import type { Health } from "./schedule.ts";
import { columns, disable, fromRow, tryLockWebhook, webhookResponse, type StoredWebhook, type WebhookRow } from "./webhooks.store.ts";

/** Which endpoints to claim: those of accounts that have new events, or every one that has something to send. */
export type Due = { accountIds: readonly number[] } | "any";

/** Whether there is an endpoint to claim. Does not write. */
export async function hasDue(db: Queryable, due: Due, claim: RowClaim): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM webhooks WHERE ${isDue(due, claim)} LIMIT 1`)).length > 0;
}

/** Claims up to `count` endpoints for this process. They stay due until it releases them, so that others take over if it is killed. */
export async function claimWebhooks(tx: Transaction, due: Due, count: number, claim: RowClaim): Promise<StoredWebhook[]> {
  const { until, leaseId } = claim.lease;
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET lease_until = ${until}, lease_id = ${leaseId}, due_at = ${claim.now}
    WHERE (account_id, id) IN (
      SELECT account_id, id FROM webhooks WHERE ${isDue(due, claim)} ORDER BY account_id, id ${limitTo(count)}${tx.skipLocked("webhooks")})
    RETURNING ${columns}`);
  return rows.map(fromRow);
}

function isDue(due: Due, { now, isFree }: RowClaim): Sql {
  const free = isFree(sql`lease_until`, sql`lease_id`);
  if (due !== "any") return sql`account_id IN (${join(due.accountIds)}) AND enabled AND takes_new AND ${free}`;
  const hasNew = sql`enabled AND takes_new AND EXISTS (
    SELECT 1 FROM events WHERE events.account_id = webhooks.account_id AND events.position > webhooks.position)`;
  return sql`(due_at <= ${now} OR (${hasNew})) AND ${free}`;
}

/** Returns the accounts that have endpoints. With `accountId`, only that account, if it has any. */
export async function accountsWithWebhooks(db: Queryable, accountId?: number): Promise<number[]> {
  const only = accountId === undefined ? sql`1 = 1` : sql`account_id = ${accountId}`;
  const rows = await db.query<{ account_id: number }>(sql`SELECT DISTINCT account_id FROM webhooks WHERE ${only}`);
  return rows.map((row) => row.account_id);
}

/** The results of a session since its last save. */
export type Progress = {
  deliveries: SavedDelivery[];
  position: number;
  health: Health;
  /** Whether the endpoint has recovered, so that waiting deliveries become due. */
  recovered: boolean;
  /** Whether to delete old deliveries. */
  trims: boolean;
  /** Whether to count the waiting deliveries. */
  counts: boolean;
};

/** The endpoint after a save, and its waiting deliveries if they were counted. */
export type SaveResult = { webhook: StoredWebhook; waiting: { count: number; dueAt: number | null } | undefined };

/**
 * Saves the results of attempts and the new position, and renews the lease. Changes through the API since `known` was read take
 * precedence. Returns undefined, and saves nothing, if the endpoint was deleted or another node has it.
 */
export async function saveProgress(
  tx: Transaction,
  known: StoredWebhook,
  progress: Progress,
  { lease, now }: Pick<RowClaim, "lease" | "now">,
): Promise<SaveResult | undefined> {
  const { accountId, id } = known;
  const row = await tryLockWebhook(tx, accountId, id);
  if (!row || row.leaseId !== known.leaseId) return undefined;
  const of = { accountId, webhookId: id };
  for (const delivery of progress.deliveries) await saveDelivery(tx, of, delivery, now);
  if (progress.recovered) await makeDeliveriesDue(tx, of, now);
  if (progress.trims) await trimDeliveries(tx, of);
  const health: Health = row.version === known.version ? progress.health : { ...row, disabledBecause: null };
  const position = row.replays === known.replays ? progress.position : row.position;
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET position = ${position}, failures = ${health.failures}, failing_since = ${health.failingSince},
      delivered_at = ${health.deliveredAt}, delivered_position = ${health.deliveredPosition}, paused_until = ${health.pausedUntil},
      lease_until = ${lease.until}, lease_id = ${lease.leaseId}
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  let webhook = fromRow(rows[0]!);
  if (health.disabledBecause !== null && row.enabled) webhook = await disableFor(tx, webhook, health.disabledBecause, now);
  return { webhook, waiting: progress.counts || progress.recovered ? await waitingDeliveries(tx, of) : undefined };
}

async function disableFor(tx: Transaction, webhook: StoredWebhook, because: "failing" | "gone", now: number): Promise<StoredWebhook> {
  const disabled = await disable(tx, webhook, because, now);
  const { accountId, id, version } = disabled;
  const previous = { enabled: true, disabledBecause: null };
  tx.record({
    accountId,
    type: "webhook.disabled",
    resource: { type: "webhook", id },
    data: webhookResponse(disabled, now),
    previous,
    version,
  });
  return disabled;
}

/**
 * The state in which a session leaves an endpoint. `takesNew`: new events make it due. `dueFrom`: nothing is due before this time.
 * `isDue`: it is due at that time even if no delivery waits.
 */
export type Release = { position: number; takesNew: boolean; dueFrom: number | null; isDue: boolean };

/** Releases an endpoint, if this process still has it. */
export async function releaseWebhook(db: Database, known: StoredWebhook, lease: RowLease, release: Release): Promise<void> {
  const { accountId, id, replays, version } = known;
  await db.write(async (tx) => {
    const row = await tryLockWebhook(tx, accountId, id);
    if (!row || row.leaseId !== lease.leaseId) return;
    const isKnown = row.replays === replays && row.version === version;
    const { dueAt } = await waitingDeliveries(tx, { accountId, webhookId: id });
    const due = dueAt === null ? (release.isDue ? release.dueFrom : null) : Math.max(dueAt, release.dueFrom ?? 0);
    // An endpoint that has changed since is due at once.
    await tx.query(sql`
      UPDATE webhooks SET lease_until = NULL, lease_id = NULL, position = ${isKnown ? release.position : row.position},
        takes_new = ${isKnown ? release.takesNew : true}, due_at = ${isKnown ? due : 0}
      WHERE account_id = ${accountId} AND id = ${id}`);
  });
}
