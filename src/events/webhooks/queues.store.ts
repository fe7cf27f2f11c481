import sql from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";

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
