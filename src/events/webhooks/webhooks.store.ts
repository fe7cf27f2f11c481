import { isDeepStrictEqual } from "node:util";
import sql, { empty } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import type { Health } from "./schedule.ts";
import { webhooksMax, type Webhook } from "./webhooks.ts";

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

export type WebhookRow = {
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

export const columns = sql`account_id, id, url, types, description, ordered, owner, secret, previous_secret, previous_until, enabled, disabled_at,
  disabled_because, position, replays, delivered_position, delivered_at, failures, failing_since, paused_until, version, created_at, lease_id`;

/** Why an endpoint is disabled. */
export type DisabledBecause = NonNullable<Webhook["disabledBecause"]>;

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
export async function tryLockWebhook(tx: Transaction, accountId: number, id: number): Promise<StoredWebhook | undefined> {
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
export async function disable(
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

export function fromRow(row: WebhookRow): StoredWebhook {
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
