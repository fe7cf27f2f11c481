import type { Coalesced } from "../../platform/jobs/runs.ts";
import type { RowLease } from "../../platform/nodes/nodes.ts";
import { waitingMax, type SavedDelivery, type StoredDelivery } from "./deliveries.store.ts";
import { expiredType, type Message } from "./message.ts";
import { errorOf, hasRecovered, healthAfter, isDelivered, nextAttemptAt, retriedMs, type Health } from "./schedule.ts";
import type { Outcome } from "./sender.ts";
import type { StoredWebhook } from "./webhooks.store.ts";

/** The most attempts of one endpoint that run at once. */
const inFlightMax = 8;
/** How long (ms) an attempt may run before its delivery is saved as waiting, so that the position can advance. */
const slowMs = 1_000;
/** How long (ms) after that save no other attempt of the delivery starts. */
const slowGuardMs = 60_000;
/** How long (ms) an endpoint waits after the queue of attempts was full. */
const busyPauseMs = 1_000;
/** The most results that wait to be saved. */
const unsavedMax = 100;

/** The secret of an endpoint, and the previous one until `previousUntil` (ms), while both sign. */
export type Secrets = { current: string; previous: string | undefined; previousUntil: number };

/** A message to send. `stored` is its row if it was tried before. */
export type Item = Message & { stored: StoredDelivery | undefined };
/**
 * A running attempt. `startedAt` is from a monotonic clock. `isSaved`: its delivery has a row, so the position need not wait for the
 * attempt. `isDropped`: the attempt was not made, and the flight stays here so that the position does not pass its event.
 */
export type Flight = { item: Item; startedAt: number; isSaved: boolean; isDropped: boolean };

/**
 * The work of one process on an endpoint whose lease it has. The saved position is the one up to which every event has a delivery row
 * or a type that the endpoint does not want. After a kill, the events after that position are sent again.
 */
export type Session = {
  webhook: StoredWebhook;
  lease: RowLease;
  url: URL;
  secrets: Secrets;
  health: Health;
  recovered: boolean;
  /** How many attempts may run at once. Each success adds one, and a failure resets it to one. */
  window: number;
  /** Up to this position, each event's attempt has started, or the endpoint does not want the event's type. */
  cursor: number;
  /** Events that were read, up to the position `readTo`, and wait to be sent. */
  queue: Message[];
  readTo: number;
  hasNew: boolean;
  /** Deliveries that were read because they are due. */
  retries: Item[];
  /** How many deliveries wait, including due ones, and when (ms) the first is due. */
  waiting: number;
  dueAt: number | null;
  flights: Map<string, Flight>;
  results: SavedDelivery[];
  /** The ids of messages whose results are not committed yet. Their rows still look due. */
  unsaved: Set<string>;
  /** Rows saved since old rows were last deleted. */
  untrimmed: number;
  /** Until when (ms) no attempt starts, because the queue was full. */
  busyUntil: number;
  /** Whether the endpoint may have changed, and must be read again before the next attempt. */
  isStale: boolean;
  isEnded: boolean;
  /** The last time (of a monotonic clock) that an attempt began or ended. */
  activeAt: number;
  stop: AbortController;
  /** Starts all attempts that may start now. Never rejects: after an error, the next tick tries again. */
  pumping: Coalesced;
  /** Saves the results so far and renews the lease. Never rejects: after an error, the next tick tries again. */
  saving: Coalesced;
};

/** Whether new events may be sent. Not if any delivery of an ordered endpoint waits, or `waitingMax` deliveries of another one. */
export function takesNew({ webhook, waiting }: Session): boolean {
  return webhook.enabled && waiting < (webhook.ordered ? 1 : waitingMax);
}

/** Returns the next message to send; undefined if no attempt may start now. */
export function nextItem(session: Session, now: number): Item | undefined {
  const { flights, webhook, health, results } = session;
  const places = webhook.ordered ? 1 : session.window;
  if (session.isStale || session.isEnded || flights.size >= places || results.length >= unsavedMax) return undefined;
  if (session.busyUntil > now) return undefined;
  const isPaused = health.pausedUntil !== null && health.pausedUntil > now;
  const at = isPaused ? session.retries.findIndex(({ stored }) => stored?.ignoresPause) : 0;
  const [retry] = at < 0 ? [] : session.retries.splice(at, 1);
  if (retry) return flights.has(retry.messageId) ? nextItem(session, now) : retry;
  if (isPaused || !takesNew(session)) return undefined;
  const message = session.queue.shift();
  if (!message) return undefined;
  session.cursor = message.position ?? session.cursor;
  // After a replay, an attempt of the same message may already be running: skip the message.
  return flights.has(message.messageId) ? nextItem(session, now) : { ...message, stored: undefined };
}

/** Records an attempt: queues its result to be saved, and updates the endpoint's health at once. */
export function recordResult(
  session: Session,
  { item, isSaved }: Flight,
  outcome: Outcome,
  durationMs: number,
  now: number,
): SavedDelivery {
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

/** Puts a message back that got no place: it was not sent, so it counts as no attempt. A new one is saved as a delivery that is due. */
export function putBack(session: Session, { item, isSaved }: Flight, now: number): void {
  session.flights.delete(item.messageId);
  session.busyUntil = now + busyPauseMs;
  session.dueAt = Math.min(now, session.dueAt ?? Infinity);
  if (item.stored !== undefined || isSaved) return;
  session.results.push({ ...rowOf(item, now + retriedMs), nextAttemptAt: now });
  session.unsaved.add(item.messageId);
  session.waiting += 1;
}

/** Skips events that were deleted from the log before they were sent. Adds a failed delivery that names them. */
export function skipExpired(session: Session, from: number, to: number): void {
  const messageId = `expired_${from}_${to}`;
  const item: Item = { messageId, position: to, type: expiredType, requestId: null, text: "", stored: undefined };
  const error = `Events ${from} to ${to} were deleted from the log before they were sent.`;
  session.results.push({ ...rowOf(item, 0), status: "failed", error });
  session.unsaved.add(messageId);
  session.cursor = Math.max(session.cursor, to);
}

/** Returns the flights that have run for over `slowMs`, each with the row to save for it. */
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

/** Returns the position that may be saved together with all results so far. `except`: flights whose rows are saved with it. */
export function positionToSave({ flights, cursor, queue, readTo }: Session, except: ReadonlySet<Flight>): number {
  let position = queue.length === 0 ? Math.max(cursor, readTo) : cursor;
  for (const flight of flights.values()) {
    const { stored, position: own } = flight.item;
    if (stored === undefined && !flight.isSaved && !except.has(flight) && own !== null) position = Math.min(position, own - 1);
  }
  return position;
}
