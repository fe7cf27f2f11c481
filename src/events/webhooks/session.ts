import type { RowLease } from "../../platform/nodes/row-leases.ts";
import { waitingMax, type SavedDelivery, type StoredDelivery } from "./deliveries.store.ts";
import { expiredType, type Message } from "./message.ts";
import { errorOf, hasRecovered, healthAfter, isDelivered, nextAttemptAt, retriedMs, type Health } from "./schedule.ts";
import type { Outcome } from "./sender.ts";
import type { StoredWebhook } from "./webhooks.store.ts";

/** Attempts of one endpoint that run at once. */
const inFlightMax = 8;
/** How long (ms) an attempt may run before its delivery is saved as one that waits, so that the position moves on. */
const slowMs = 1_000;
/** How long (ms) such a delivery is left to its running attempt. */
const slowGuardMs = 60_000;
/** Results that may wait to be saved. */
const unsavedMax = 100;

/** The secret of an endpoint, and the one before while it signs too. */
export type Secrets = { current: string; previous: string | undefined; previousUntil: number };

/** A message whose turn has come. `stored` is its row if it was tried before. */
export type Item = Message & { stored: StoredDelivery | undefined };
/**
 * An attempt that runs. `startedAt` is of a monotonic clock. `isSaved`: its row holds it, so the position need not wait for it. `isDropped`: it
 * was not made, and stays here so that the position does not pass it.
 */
export type Flight = { item: Item; startedAt: number; isSaved: boolean; isDropped: boolean };

/**
 * The work of one process on an endpoint, while it has its lease. The position that is saved is the one up to which every event has a row
 * among the deliveries, or is of no type of the endpoint: after a kill, the events after it are sent again.
 */
export type Session = {
  webhook: StoredWebhook;
  lease: RowLease;
  url: URL;
  secrets: Secrets;
  health: Health;
  recovered: boolean;
  /** How many attempts may run at once: grows with each success, and falls to one with a failure. */
  window: number;
  /** Every event up to here has begun, or is of no type of the endpoint. */
  cursor: number;
  /** Events that were read and wait for their turn, up to the position `readTo`. */
  queue: Message[];
  readTo: number;
  hasNew: boolean;
  /** Deliveries that are due, and how many wait, due ones included. */
  retries: Item[];
  waiting: number;
  dueAt: number | null;
  flights: Map<string, Flight>;
  results: SavedDelivery[];
  /** The messages of all results that are not committed yet: their rows look as if they were still due. */
  unsaved: Set<string>;
  /** Rows saved since old ones were deleted. */
  untrimmed: number;
  /** Whether the endpoint has changed and has to be read again before the next attempt. */
  isStale: boolean;
  isEnded: boolean;
  /** The last time (of a monotonic clock) that an attempt began or ended. */
  activeAt: number;
  stop: AbortController;
  /** Whether one of these runs, and whether it has to run again. */
  pumping: Turn;
  saving: Turn;
};

export type Turn = { running: Promise<void> | undefined; again: boolean };

/** Runs work, once at a time. If it is asked for while it runs, it runs once more. */
export function inTurn(turn: Turn, work: () => Promise<void>): Promise<void> {
  turn.again = true;
  turn.running ??= (async () => {
    try {
      while (turn.again) {
        turn.again = false;
        await work();
      }
    } finally {
      turn.running = undefined;
    }
  })();
  return turn.running;
}

/** Whether new events may be sent: not while a delivery of an ordered endpoint waits, or too many of another do. */
export function takesNew({ webhook, waiting }: Session): boolean {
  return webhook.enabled && waiting < (webhook.ordered ? 1 : waitingMax);
}

/** Returns the message whose turn it is; undefined if none may begin now. */
export function nextItem(session: Session, now: number): Item | undefined {
  const { flights, webhook, health, results } = session;
  const places = webhook.ordered ? 1 : session.window;
  if (session.isStale || session.isEnded || flights.size >= places || results.length >= unsavedMax) return undefined;
  if (health.pausedUntil !== null && health.pausedUntil > now) return undefined;
  const retry = session.retries.shift();
  if (retry) return flights.has(retry.messageId) ? nextItem(session, now) : retry;
  if (!takesNew(session)) return undefined;
  const message = session.queue.shift();
  if (!message) return undefined;
  session.cursor = message.position ?? session.cursor;
  // An attempt of the same message runs already, after a replay.
  return flights.has(message.messageId) ? nextItem(session, now) : { ...message, stored: undefined };
}

/** Takes note of an attempt: its result waits to be saved, and the endpoint's health changes at once. */
export function noteResult(session: Session, { item, isSaved }: Flight, outcome: Outcome, durationMs: number, now: number): SavedDelivery {
  const { stored } = item;
  const giveUpAt = stored?.giveUpAt ?? now + retriedMs;
  const delivered = isDelivered(outcome);
  const next = delivered ? null : nextAttemptAt((stored?.attempts ?? 0) + 1, giveUpAt, now, Math.random());
  const before = session.health;
  session.health = healthAfter(before, outcome, item.position, now);
  session.recovered ||= hasRecovered(before, session.health);
  session.window = delivered ? Math.min(session.window + 1, inFlightMax) : 1;
  const wasWaiting = stored !== undefined || isSaved;
  session.waiting += Number(next !== null) - Number(wasWaiting);
  if (next !== null) session.dueAt = Math.min(next, session.dueAt ?? Infinity);
  const result: SavedDelivery = {
    ...rowOf(item, giveUpAt),
    status: delivered ? "delivered" : next === null ? "failed" : "pending",
    attempted: true,
    nextAttemptAt: next,
    attemptedAt: now,
    durationMs,
    responseStatus: outcome.status,
    responseBody: outcome.status === null ? null : outcome.answer,
    error: errorOf(outcome),
  };
  session.results.push(result);
  session.unsaved.add(item.messageId);
  return result;
}

/** Goes on after events that were deleted from the log before they were sent. A failed delivery lists them. */
export function noteExpired(session: Session, from: number, to: number): void {
  const messageId = `expired_${from}_${to}`;
  const item: Item = { messageId, position: to, type: expiredType, requestId: null, text: "", stored: undefined };
  const error = `Events ${from} to ${to} were deleted from the log before they were sent.`;
  session.results.push({ ...rowOf(item, 0), status: "failed", error });
  session.unsaved.add(messageId);
  session.cursor = Math.max(session.cursor, to);
}

/** The flights that have run for so long that their rows should hold them, and these rows. */
export function slowFlights({ flights }: Session, time: number, now: number): { flight: Flight; row: SavedDelivery }[] {
  return [...flights.values()]
    .filter((flight) => !flight.isSaved && flight.item.stored === undefined && time - flight.startedAt > slowMs)
    .map((flight) => ({ flight, row: { ...rowOf(flight.item, now + retriedMs), nextAttemptAt: now + slowGuardMs } }));
}

function rowOf({ messageId, position, type, requestId, stored }: Item, giveUpAt: number): SavedDelivery {
  const row = { messageId, position, type, requestId, body: stored?.body ?? null, status: "pending", giveUpAt, attempted: false } as const;
  const empty = { nextAttemptAt: null, attemptedAt: null, durationMs: null, responseStatus: null, responseBody: null, error: null };
  return { ...row, ...empty };
}

/** The position that may be saved together with all results up to now. `except` are flights whose rows are saved too. */
export function positionToSave({ flights, cursor, queue, readTo }: Session, except: ReadonlySet<Flight>): number {
  let position = queue.length === 0 ? Math.max(cursor, readTo) : cursor;
  for (const flight of flights.values()) {
    const { stored, position: own } = flight.item;
    if (stored === undefined && !flight.isSaved && !except.has(flight) && own !== null) position = Math.min(position, own - 1);
  }
  return position;
}
