import { isDeepStrictEqual } from "node:util";
import sql, { empty, join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/nodes.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import { makeDeliveriesDue, type SavedDelivery, saveDelivery, trimDeliveries, waitingDeliveries } from "./deliveries.store.ts";
import type { Health } from "./schedule.ts";
import { type Webhook, webhooksMax } from "./webhooks.ts";

/** A stored endpoint. Its secrets are envelopes that are encrypted for `owner`. */
export type StoredWebhook = Omit<Health, "disabledBecause"> & {
  disabledBecause: DisabledBecause | null;
  accountId: number;
  id: number;
  url: string;
  types: string[];
  description: string;
  ordered: boolean;
  owner: string;
  secret: string;
  previousSecret: string | null;
  previousUntil: number | null;
  enabled: boolean;
  disabledAt: number | null;
  position: number;
  replays: number;
  version: number;
  createdAt: number;
  leaseId: string | null;
};

type WebhookRow = {
  account_id: number;
  id: number;
  url: string;
  types: string;
  description: string;
  ordered: number | boolean;
  owner: string;
  secret: string;
  previous_secret: string | null;
  previous_until: number | null;
  enabled: number | boolean;
  disabled_at: number | null;
  disabled_because: string | null;
  position: number;
  replays: number;
  delivered_position: number | null;
  delivered_at: number | null;
  failures: number;
  failing_since: number | null;
  paused_until: number | null;
  version: number;
  created_at: number;
  lease_id: string | null;
};

const columns = sql`account_id, id, url, types, description, ordered, owner, secret, previous_secret, previous_until, enabled, disabled_at,
  disabled_because, position, replays, delivered_position, delivered_at, failures, failing_since, paused_until, version, created_at, lease_id`;

/** Why an endpoint is disabled. */
type DisabledBecause = NonNullable<Webhook["disabledBecause"]>;

export async function listWebhooks(db: Queryable, accountId: number, afterId: number, limit: number): Promise<StoredWebhook[]> {
  const rows = await db.query<WebhookRow>(sql`
    SELECT ${columns} FROM webhooks WHERE account_id = ${accountId} AND id > ${afterId} ORDER BY id ${limitTo(limit)}`);
  return rows.map(fromRow);
}

/** @throws Problem `not_found` */
export async function findWebhook(db: Queryable, accountId: number, id: number): Promise<StoredWebhook> {
  const rows = await db.query<WebhookRow>(sql`SELECT ${columns} FROM webhooks WHERE account_id = ${accountId} AND id = ${id}`);
  return requireRow(rows, id);
}

/** Locks an endpoint until commit. @throws Problem `not_found` */
export async function lockWebhook(tx: Transaction, accountId: number, id: number): Promise<StoredWebhook> {
  const webhook = await tryLockWebhook(tx, accountId, id);
  return webhook ?? requireRow([], id);
}

/** Locks an endpoint until commit; undefined if it was deleted. */
async function tryLockWebhook(tx: Transaction, accountId: number, id: number): Promise<StoredWebhook | undefined> {
  const [row] = await tx.query<WebhookRow>(sql`
    SELECT ${columns} FROM webhooks WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return row && fromRow(row);
}

type NewWebhook = Pick<StoredWebhook, "accountId" | "url" | "types" | "description" | "ordered" | "owner" | "secret" | "position">;

/** @throws Problem `invalid_request` if the account has too many endpoints */
export async function insertWebhook(tx: Transaction, webhook: NewWebhook, now: number): Promise<StoredWebhook> {
  const { accountId } = webhook;
  await tx.lock(`webhooks of ${accountId}`);
  const [count] = await tx.query<{ n: number }>(sql`SELECT COUNT(*) AS n FROM webhooks WHERE account_id = ${accountId}`);
  if (Number(count?.n) >= webhooksMax)
    throw invalidAt("body", "is one endpoint too many", `The account has ${webhooksMax} webhook endpoints already.`);
  const rows = await tx.query<WebhookRow>(sql`
    INSERT INTO webhooks (account_id, id, url, types, description, ordered, owner, secret, enabled, position, replays, failures, takes_new, version,
      created_at)
    VALUES (${accountId}, nextval('webhook_ids'), ${webhook.url}, ${JSON.stringify(webhook.types)}, ${webhook.description}, ${webhook.ordered},
      ${webhook.owner}, ${webhook.secret}, ${true}, ${webhook.position}, 0, 0, ${true}, 1, ${now})
    RETURNING ${columns}`);
  return requireRow(rows, 0);
}

type WebhookChanges = Partial<Pick<StoredWebhook, "url" | "types" | "description" | "ordered" | "enabled">>;

/**
 * Saves a change to a locked endpoint, unless nothing changes. Enabling an endpoint resets its failures and its pause, also if it was enabled;
 * another URL ends the pause, which the receiver at the former one asked for.
 */
export async function updateWebhook(tx: Transaction, before: StoredWebhook, change: WebhookChanges, now: number): Promise<StoredWebhook> {
  const after = { ...before, ...change };
  const endsPause = before.pausedUntil !== null && (change.enabled === true || after.url !== before.url);
  if (isDeepStrictEqual(after, before) && !endsPause) return before;
  const { accountId, id, enabled } = after;
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET url = ${after.url}, types = ${JSON.stringify(after.types)}, description = ${after.description}, ordered = ${after.ordered},
      enabled = ${enabled}, paused_until = ${endsPause ? null : before.pausedUntil}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  if (enabled === before.enabled) return requireRow(rows, id);
  return enabled ? enable(tx, after) : disable(tx, after, "request", now);
}

async function enable(tx: Transaction, { accountId, id }: StoredWebhook): Promise<StoredWebhook> {
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET disabled_at = NULL, disabled_because = NULL, failures = 0, failing_since = NULL, paused_until = NULL, takes_new = ${true}
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  return requireRow(rows, id);
}

/** Disables a locked endpoint, and marks its waiting deliveries as failed. A replay sends them again. */
async function disable(
  tx: Transaction,
  { accountId, id }: Pick<StoredWebhook, "accountId" | "id">,
  because: DisabledBecause,
  now: number,
): Promise<StoredWebhook> {
  await tx.query(sql`
    UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL
    WHERE account_id = ${accountId} AND webhook_id = ${id} AND status = 'pending'`);
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET enabled = ${false}, disabled_at = ${now}, disabled_because = ${because}, due_at = NULL, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  return requireRow(rows, id);
}

/** Sets the secret of a locked endpoint. Until `previousUntil`, messages are also signed with the previous one. */
export async function rotateSecret(tx: Transaction, before: StoredWebhook, secret: string, previousUntil: number): Promise<StoredWebhook> {
  const { accountId, id } = before;
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET secret = ${secret}, previous_secret = ${before.secret}, previous_until = ${previousUntil}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  return requireRow(rows, id);
}

/** Sets the position after which a locked endpoint gets events. */
export async function setPosition(tx: Transaction, { accountId, id }: StoredWebhook, position: number): Promise<StoredWebhook> {
  const rows = await tx.query<WebhookRow>(sql`
    UPDATE webhooks SET position = ${position}, replays = replays + 1, takes_new = ${true}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  return requireRow(rows, id);
}

/** Makes a locked endpoint due now, because a delivery was asked for. Ends its pause; the new version makes a running session read that. */
export async function makeDue(tx: Transaction, { accountId, id, pausedUntil }: StoredWebhook, now: number): Promise<void> {
  const ended = pausedUntil === null ? empty : sql`, paused_until = NULL, version = version + 1`;
  await tx.query(sql`UPDATE webhooks SET due_at = ${now}${ended} WHERE account_id = ${accountId} AND id = ${id}`);
}

/** Deletes an endpoint with its deliveries. */
export async function deleteWebhook(tx: Transaction, accountId: number, id: number): Promise<void> {
  await tx.query(sql`DELETE FROM webhooks WHERE account_id = ${accountId} AND id = ${id}`);
}

/** Deletes previous secrets that no longer sign. */
export async function deletePreviousSecrets(tx: Transaction, now: number): Promise<void> {
  await tx.query(sql`UPDATE webhooks SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= ${now}`);
}

/** Returns an endpoint as the API shows it. */
export function webhookResponse(stored: StoredWebhook, now: number): Webhook {
  const { id, url, types, description, ordered, enabled, position, deliveredPosition, deliveredAt, failingSince, createdAt } = stored;
  const isPaused = stored.pausedUntil !== null && stored.pausedUntil > now;
  const time = (at: number | null): string | null => (at === null ? null : formatDateTime(at));
  return {
    id,
    url,
    types,
    description,
    ordered,
    enabled,
    disabledBecause: stored.disabledBecause,
    position,
    deliveredPosition,
    deliveredAt: time(deliveredAt),
    failingSince: time(failingSince),
    pausedUntil: isPaused ? time(stored.pausedUntil) : null,
    createdAt: formatDateTime(createdAt),
  };
}

function requireRow(rows: WebhookRow[], id: number): StoredWebhook {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("webhook endpoint", id)}.`);
  return fromRow(row);
}

function fromRow(row: WebhookRow): StoredWebhook {
  return {
    accountId: row.account_id,
    id: row.id,
    url: row.url,
    types: JSON.parse(row.types) as string[],
    description: row.description,
    ordered: Boolean(row.ordered),
    owner: row.owner,
    secret: row.secret,
    previousSecret: row.previous_secret,
    previousUntil: row.previous_until,
    enabled: Boolean(row.enabled),
    disabledAt: row.disabled_at,
    disabledBecause: row.disabled_because as StoredWebhook["disabledBecause"],
    position: row.position,
    replays: row.replays,
    deliveredPosition: row.delivered_position,
    deliveredAt: row.delivered_at,
    failures: row.failures,
    failingSince: row.failing_since,
    pausedUntil: row.paused_until,
    version: row.version,
    createdAt: row.created_at,
    leaseId: row.lease_id,
  };
}

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
type SaveResult = { webhook: StoredWebhook; waiting: { count: number; dueAt: number | null } | undefined };

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
type Release = { position: number; takesNew: boolean; dueFrom: number | null; isDue: boolean };

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
