import sql, { empty } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { byId, Problem } from "../../platform/problem.ts";
import type { Delivery, DeliveryQuery } from "./webhooks.ts";

/** A message to an endpoint, and its last attempt. `body` is null for an event: the log has it. */
export type StoredDelivery = {
  id: number;
  messageId: string;
  position: number | null;
  type: string;
  requestId: string | null;
  body: string | null;
  status: Delivery["status"];
  attempts: number;
  giveUpAt: number;
  nextAttemptAt: number | null;
  /** Whether a test or resend asked for the next attempt, which does not wait for the end of a pause. */
  ignoresPause: boolean;
  attemptedAt: number | null;
  durationMs: number | null;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  createdAt: number;
};

type DeliveryRow = {
  id: number;
  message_id: string;
  position: number | null;
  type: string;
  request_id: string | null;
  body: string | null;
  status: Delivery["status"];
  attempts: number;
  give_up_at: number;
  next_attempt_at: number | null;
  ignores_pause: number | boolean;
  attempted_at: number | null;
  duration_ms: number | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  created_at: number;
};

const columns = sql`id, message_id, position, type, request_id, body, status, attempts, give_up_at, next_attempt_at, ignores_pause, attempted_at, duration_ms,
  response_status, response_body, error, created_at`;

/** How long (ms) a delivery is kept, and how many deliveries of an endpoint are. */
const keptMs = 7 * dayMs;
const keptMax = 10_000;
/** The number up to which an endpoint's waiting deliveries are counted. */
export const waitingMax = 1_000;

type EndpointRef = { accountId: number; webhookId: number };

/** Returns deliveries, newest first. */
export async function listDeliveries(
  db: Queryable,
  { accountId, webhookId }: EndpointRef,
  { status, requestId }: DeliveryQuery,
  beforeId: number,
  limit: number,
): Promise<StoredDelivery[]> {
  // Each status is a constant in the SQL, so that the engine can use the index of undelivered deliveries.
  const undelivered = status === "pending" ? sql`AND status = 'pending'` : status === "failed" ? sql`AND status = 'failed'` : empty;
  const rows = await db.query<DeliveryRow>(sql`
    SELECT ${columns} FROM webhook_deliveries WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND id < ${beforeId}
      ${status === "delivered" ? sql`AND status = 'delivered'` : undelivered}
      ${undelivered === empty ? empty : sql`AND status <> 'delivered'`}
      ${requestId === undefined ? empty : sql`AND request_id = ${requestId}`}
    ORDER BY id DESC ${limitTo(limit)}`);
  return rows.map(fromRow);
}

/** @throws Problem `not_found` */
export async function findDelivery(db: Queryable, { accountId, webhookId }: EndpointRef, id: number): Promise<StoredDelivery> {
  const [row] = await db.query<DeliveryRow>(sql`
    SELECT ${columns} FROM webhook_deliveries WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND id = ${id}`);
  if (!row) throw new Problem("not_found", `There is no ${byId("delivery", id)} of this endpoint.`);
  return fromRow(row);
}

/** Returns the deliveries that are due: those that were asked for first, then the longest due. */
export async function dueDeliveries(
  db: Queryable,
  { accountId, webhookId }: EndpointRef,
  now: number,
  limit: number,
): Promise<StoredDelivery[]> {
  const rows = await db.query<DeliveryRow>(sql`
    SELECT ${columns} FROM webhook_deliveries
    WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND status = 'pending' AND next_attempt_at <= ${now}
    ORDER BY ignores_pause DESC, next_attempt_at ${limitTo(limit)}`);
  return rows.map(fromRow);
}

/** Counts waiting deliveries, up to `waitingMax`. `dueAt` (ms) is when the first is due. */
export async function waitingDeliveries(
  db: Queryable,
  { accountId, webhookId }: EndpointRef,
): Promise<{ count: number; dueAt: number | null }> {
  const [row] = await db.query<{ n: number; due: number | null }>(sql`
    SELECT count(*) AS n, min(next_attempt_at) AS due FROM (
      SELECT next_attempt_at FROM webhook_deliveries WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND status = 'pending'
      ORDER BY next_attempt_at ${limitTo(waitingMax)}) AS waiting`);
  return { count: Number(row?.n), dueAt: row?.due ?? null };
}

/** A delivery to save after an attempt, or during one: `attempted` is then false. */
export type SavedDelivery = Omit<StoredDelivery, "id" | "attempts" | "createdAt" | "ignoresPause"> & { attempted: boolean };

/** Saves a delivery: adds its row, or updates the row of the same message. */
export async function saveDelivery(
  tx: Transaction,
  { accountId, webhookId }: EndpointRef,
  saved: SavedDelivery,
  now: number,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO webhook_deliveries (account_id, webhook_id, id, message_id, position, type, request_id, body, status, attempts, give_up_at,
      next_attempt_at, attempted_at, duration_ms, response_status, response_body, error, created_at)
    VALUES (${accountId}, ${webhookId}, nextval('webhook_delivery_ids'), ${saved.messageId}, ${saved.position}, ${saved.type},
      ${saved.requestId}, ${saved.body}, ${saved.status}, ${saved.attempted ? 1 : 0}, ${saved.giveUpAt}, ${saved.nextAttemptAt},
      ${saved.attemptedAt}, ${saved.durationMs}, ${saved.responseStatus}, ${saved.responseBody}, ${saved.error}, ${now})
    ON CONFLICT (account_id, webhook_id, message_id) DO UPDATE SET status = excluded.status,
      attempts = webhook_deliveries.attempts + excluded.attempts, ignores_pause = ${false}, give_up_at = excluded.give_up_at, next_attempt_at = excluded.next_attempt_at,
      attempted_at = excluded.attempted_at, duration_ms = excluded.duration_ms, response_status = excluded.response_status,
      response_body = excluded.response_body, error = excluded.error`);
}

/** Adds a test message. It is due now, and is sent once. */
export async function insertTest(
  tx: Transaction,
  { accountId, webhookId }: EndpointRef,
  message: Pick<StoredDelivery, "messageId" | "type" | "body">,
  now: number,
): Promise<StoredDelivery> {
  const [row] = await tx.query<DeliveryRow>(sql`
    INSERT INTO webhook_deliveries (account_id, webhook_id, id, message_id, type, body, status, attempts, give_up_at, next_attempt_at, ignores_pause,
      created_at)
    VALUES (${accountId}, ${webhookId}, nextval('webhook_delivery_ids'), ${message.messageId}, ${message.type}, ${message.body}, 'pending', 0, 0,
      ${now}, ${true}, ${now}) RETURNING ${columns}`);
  return fromRow(row!);
}

/** Makes a delivery due now. A delivery that had ended gets one more attempt. */
export async function resendDelivery(tx: Transaction, endpoint: EndpointRef, id: number, now: number): Promise<StoredDelivery> {
  await findDelivery(tx, endpoint, id);
  const { accountId, webhookId } = endpoint;
  const [row] = await tx.query<DeliveryRow>(sql`
    UPDATE webhook_deliveries SET give_up_at = CASE WHEN status = 'pending' THEN give_up_at ELSE 0 END, status = 'pending', next_attempt_at = ${now},
      ignores_pause = ${true}
    WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND id = ${id} RETURNING ${columns}`);
  return fromRow(row!);
}

/** Makes every waiting delivery of an endpoint due now. */
export async function makeDeliveriesDue(tx: Transaction, { accountId, webhookId }: EndpointRef, now: number): Promise<void> {
  await tx.query(sql`
    UPDATE webhook_deliveries SET next_attempt_at = ${now}
    WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND status = 'pending' AND next_attempt_at > ${now}`);
}

/** Deletes an endpoint's deliveries beyond the newest 10,000, except those that wait. */
export async function trimDeliveries(tx: Transaction, { accountId, webhookId }: EndpointRef): Promise<void> {
  const own = sql`account_id = ${accountId} AND webhook_id = ${webhookId}`;
  await tx.query(sql`
    DELETE FROM webhook_deliveries WHERE ${own} AND status <> 'pending' AND id <= (
      SELECT id FROM webhook_deliveries WHERE ${own} ORDER BY id DESC LIMIT 1 OFFSET ${keptMax})`);
}

/** Deletes deliveries that are older than seven days and do not wait. */
export function expireDeliveries(db: Database, now: number): Promise<void> {
  const old = sql`created_at < ${now - keptMs} AND status <> 'pending'`;
  const key = sql`account_id, webhook_id, id`;
  return writeInBatches(
    db,
    (limit) => sql`
      DELETE FROM webhook_deliveries WHERE (${key}) IN (SELECT ${key} FROM webhook_deliveries WHERE ${old} ORDER BY created_at ${limit})
      RETURNING id`,
  );
}

/** Returns a delivery as lists show it. It waits for the end of its endpoint's pause, if there is one. */
export function deliveryResponse(stored: StoredDelivery, pausedUntil: number | null = null): Delivery {
  const { id, messageId, position, type, requestId, status, attempts, attemptedAt, durationMs, responseStatus, error } = stored;
  const beginsFrom = stored.ignoresPause ? 0 : (pausedUntil ?? 0);
  const nextAttemptAt = stored.nextAttemptAt === null ? null : Math.max(stored.nextAttemptAt, beginsFrom);
  return {
    id,
    messageId,
    position,
    type,
    requestId,
    status,
    attempts,
    attemptedAt: attemptedAt === null ? null : formatDateTime(attemptedAt),
    durationMs,
    responseStatus,
    error,
    nextAttemptAt: nextAttemptAt === null ? null : formatDateTime(nextAttemptAt),
    createdAt: formatDateTime(stored.createdAt),
  };
}

function fromRow(row: DeliveryRow): StoredDelivery {
  return {
    id: row.id,
    messageId: row.message_id,
    position: row.position,
    type: row.type,
    requestId: row.request_id,
    body: row.body,
    status: row.status,
    attempts: row.attempts,
    giveUpAt: row.give_up_at,
    nextAttemptAt: row.next_attempt_at,
    ignoresPause: Boolean(row.ignores_pause),
    attemptedAt: row.attempted_at,
    durationMs: row.duration_ms,
    responseStatus: row.response_status,
    responseBody: row.response_body,
    error: row.error,
    createdAt: row.created_at,
  };
}

/** The most waiting deliveries that are counted. A longer queue shows this number. */
const countedMax = 10_000;

/**
 * The messages that wait for a group of endpoints: new events, deliveries that wait for a retry, and since when (ms) the first of both
 * has been due. A delivery is due at its next attempt. `failing` endpoints are those whose last attempt failed.
 */
type WebhookQueue = { new: number; retry: number; dueSince: number | null };

export type WebhookQueues = { accepting: WebhookQueue; failing: WebhookQueue; disabled: Record<"failing" | "gone" | "request", number> };

type WaitingEvents = { failing: number | boolean; events: number; due_since: number | null };

type WaitingDeliveries = { failing: number | boolean; deliveries: number; due_since: number | null };

/** Reads the queues of all accounts. An event counts for each enabled endpoint with a lower position, whatever types it wants. */
export async function readWebhookQueues(db: Database, now: number): Promise<WebhookQueues> {
  const [endpoints, deliveries, disabled] = await Promise.all([
    db.query<WaitingEvents>(sql`
      SELECT failing, CAST(sum(newest - position) AS BIGINT) AS events, min(due_since) AS due_since FROM (
        SELECT failing_since IS NOT NULL AS failing, position,
          (SELECT max(position) FROM events WHERE account_id = webhooks.account_id) AS newest,
          CASE WHEN takes_new AND coalesce(paused_until, 0) <= ${now} THEN
            (SELECT at FROM events WHERE account_id = webhooks.account_id AND position > webhooks.position ORDER BY position LIMIT 1) END AS due_since
        FROM webhooks WHERE enabled) AS endpoints
      WHERE newest > position GROUP BY failing`),
    db.query<WaitingDeliveries>(sql`
      SELECT failing, count(*) AS deliveries, min(CASE WHEN due <= ${now} THEN due END) AS due_since FROM (
        SELECT failing_since IS NOT NULL AS failing,
          CASE WHEN next_attempt_at < coalesce(paused_until, 0) THEN paused_until ELSE next_attempt_at END AS due
        FROM webhook_deliveries AS deliveries JOIN webhooks ON webhooks.account_id = deliveries.account_id AND webhooks.id = webhook_id
        WHERE status = 'pending' ${limitTo(countedMax)}) AS waiting
      GROUP BY failing`),
    db.query<{ because: "failing" | "gone" | "request"; n: number }>(sql`
      SELECT disabled_because AS because, count(*) AS n FROM webhooks WHERE NOT enabled AND disabled_because IS NOT NULL GROUP BY disabled_because`),
  ]);
  const queueOf = (failing: boolean): WebhookQueue => {
    const ofThese = (row: { failing: number | boolean }): boolean => Boolean(row.failing) === failing;
    const [fresh, retries] = [endpoints.find(ofThese), deliveries.find(ofThese)];
    const since = [fresh?.due_since, retries?.due_since].filter((at) => typeof at === "number");
    return {
      new: fresh?.events ?? 0,
      retry: retries?.deliveries ?? 0,
      dueSince: since.length > 0 ? Math.min(...since) : null,
    };
  };
  const countOf = (because: string): number => disabled.find((row) => row.because === because)?.n ?? 0;
  return {
    accepting: queueOf(false),
    failing: queueOf(true),
    disabled: { failing: countOf("failing"), gone: countOf("gone"), request: countOf("request") },
  };
}
