import sql, { join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/row-leases.ts";
import { hastenDeliveries, saveDelivery, trimDeliveries, waitingDeliveries, type SavedDelivery } from "./deliveries.store.ts";
import type { Health } from "./schedule.ts";
import { columns, disable, fromRow, tryLockWebhook, webhookOf, type StoredWebhook, type WebhookRow } from "./webhooks.store.ts";

/** Which endpoints to claim: those of accounts that have new events, or every one that has something to send. */
export type Due = { accountIds: readonly number[] } | "any";

/** Whether there is an endpoint to claim, without a write. */
export async function hasDue(db: Queryable, due: Due, claim: RowClaim): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM webhooks WHERE ${isDue(due, claim)} LIMIT 1`)).length > 0;
}

/** Claims up to `count` endpoints for this process. Until it releases them, they count as due, for the case that it is killed. */
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

/** The accounts that have endpoints, or whether one of them has. */
export async function accountsWithWebhooks(db: Queryable, accountId?: number): Promise<number[]> {
  const only = accountId === undefined ? sql`1 = 1` : sql`account_id = ${accountId}`;
  const rows = await db.query<{ account_id: number }>(sql`SELECT DISTINCT account_id FROM webhooks WHERE ${only}`);
  return rows.map((row) => row.account_id);
}

/** What a session saves. */
export type Progress = {
  deliveries: SavedDelivery[];
  position: number;
  health: Health;
  /** Whether the endpoint has recovered, so that waiting deliveries become due. */
  recovered: boolean;
  trims: boolean;
  /** Whether to count what waits. */
  counts: boolean;
};

/** The endpoint as it is now, and what waits if it was counted; undefined if it was deleted or another node has it. */
export type Saved = { webhook: StoredWebhook; waiting: { count: number; dueAt: number | null } | undefined };

/**
 * Saves the results of attempts together with the position that they reached, if this process still has the endpoint, and renews its lease.
 * A change through the API since `known` was read takes precedence.
 */
export async function saveProgress(
  tx: Transaction,
  known: StoredWebhook,
  progress: Progress,
  { lease, now }: Pick<RowClaim, "lease" | "now">,
): Promise<Saved | undefined> {
  const { accountId, id } = known;
  const row = await tryLockWebhook(tx, accountId, id);
  if (!row || row.leaseId !== known.leaseId) return undefined;
  const of = { accountId, webhookId: id };
  for (const delivery of progress.deliveries) await saveDelivery(tx, of, delivery, now);
  if (progress.recovered) await hastenDeliveries(tx, of, now);
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
  tx.record({ accountId, type: "webhook.disabled", resource: { type: "webhook", id }, data: webhookOf(disabled), previous, version });
  return disabled;
}

/**
 * What a session leaves behind: how far it came, and whether new events make the endpoint due. `dueFrom`: nothing is due before; `isDue`: the
 * endpoint is due then even if no delivery waits.
 */
export type Left = { position: number; takesNew: boolean; dueFrom: number | null; isDue: boolean };

/** Gives an endpoint back, if this process still has it and nobody has changed it. */
export async function releaseWebhook(db: Database, known: StoredWebhook, lease: RowLease, left: Left): Promise<void> {
  const { accountId, id, replays, version } = known;
  await db.write(async (tx) => {
    const row = await tryLockWebhook(tx, accountId, id);
    if (!row || row.leaseId !== lease.leaseId) return;
    const isKnown = row.replays === replays && row.version === version;
    const { dueAt } = await waitingDeliveries(tx, { accountId, webhookId: id });
    const due = dueAt === null ? (left.isDue ? left.dueFrom : null) : Math.max(dueAt, left.dueFrom ?? 0);
    // One that has changed since is looked at again at once.
    await tx.query(sql`
      UPDATE webhooks SET lease_until = NULL, lease_id = NULL, position = ${isKnown ? left.position : row.position},
        takes_new = ${isKnown ? left.takesNew : true}, due_at = ${isKnown ? due : 0}
      WHERE account_id = ${accountId} AND id = ${id}`);
  });
}
