import { performance } from "node:perf_hooks";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";
import type { Coalesced } from "../../platform/jobs/runs.ts";
import type { RowLease, RowLeases } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import { decryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import { eventAt, logStart, newestEvent, readEvents } from "../log/events.store.ts";
import { dueDeliveries, waitingMax, type SavedDelivery, type StoredDelivery } from "./deliveries.store.ts";
import { expiredType, messageOf, signedHeaders, type Message } from "./message.ts";
import { errorOf, hasRecovered, healthAfter, isDelivered, nextAttemptAt, retriedMs, type Health } from "./schedule.ts";
import type { Outcome, Sender } from "./sender.ts";
import type { StoredWebhook } from "./webhooks.store.ts";
import { typesOf } from "./webhooks.ts";

/** The most attempts of one endpoint that run at once. */
const concurrencyMax = 8;
/** How long (ms) an attempt may run before its delivery is saved as waiting, so that the position can advance. */
const slowMs = 1_000;
/** How long (ms) after that save no other attempt of the delivery starts. */
const slowGuardMs = 60_000;
/** How long (ms) an endpoint waits after the queue of attempts was full. */
const busyPauseMs = 1_000;
/** How long (ms) a process keeps an idle endpoint, in case new events arrive. */
const lingerMs = 3_000;
/** The most deliveries that wait to be saved. */
const unsavedMax = 100;
/** The most events, and the most due deliveries, that are read at once. */
const eventsPerRead = 50;
const deliveriesPerRead = 20;

/** What sends messages, and reads and saves deliveries. */
export type DeliveryContext = {
  db: Database;
  clock: Clock;
  leases: RowLeases;
  keys: SecretsKeys;
  sender: Sender;
  /** Limits how many attempts run at once on this node. Accounts take turns. */
  places: FairShare<number>;
  /** The same for endpoints whose last attempt failed, so that endpoints that hang cannot use up all places. */
  failingPlaces: FairShare<number>;
  onAttempt: (ended: EndedAttempt) => void;
  onError: (error: unknown) => void;
};

/** `status` is null if there was no answer. */
export type EndedAttempt = {
  accountId: number;
  webhookId: number;
  messageId: string;
  /** Null for a test. */
  position: number | null;
  requestId: string | null;
  type: string;
  status: number | null;
  isDelivered: boolean;
  ms: number;
};

/** The secret of an endpoint, and the previous one until `previousUntil` (ms), while both sign. */
type Secrets = { current: string; previous: string | undefined; previousUntil: number };

/**
 * A running attempt. `startedAt` is from a monotonic clock. `isSaved`: its delivery has a row, so the position need not wait for the
 * attempt. `isSkipped`: it was not made, and stays here so that the position does not pass its event.
 */
export type Attempt = { message: Message; startedAt: number; isSaved: boolean; isSkipped: boolean };

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
  concurrency: number;
  /** Up to this position, each event's attempt has started, or the endpoint does not want the event's type. */
  cursor: number;
  /** Events that were read, up to the position `readTo`, and wait to be sent. */
  queue: Message[];
  readTo: number;
  hasNew: boolean;
  /** Messages whose deliveries were read because they are due. */
  retries: Message[];
  /** How many deliveries wait, including due ones, and when (ms) the first is due. */
  waiting: number;
  dueAt: number | null;
  /** The running attempts, by the id of their message. */
  attempts: Map<string, Attempt>;
  /** Deliveries whose results are not committed yet. Their rows still look due. */
  unsaved: SavedDelivery[];
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
  sending: Coalesced;
  /** Saves the deliveries so far and renews the lease. Never rejects: after an error, the next tick tries again. */
  saving: Coalesced;
};

export function secretsOf({ secret, previousSecret, previousUntil, owner }: StoredWebhook, keys: SecretsKeys): Secrets {
  const previous = previousSecret === null ? undefined : decryptSecret(keys, previousSecret, owner);
  return { current: decryptSecret(keys, secret, owner), previous, previousUntil: previousUntil ?? 0 };
}

export function healthOf({ enabled, disabledBecause, ...health }: StoredWebhook): Health {
  return { ...health, disabledBecause: !enabled && disabledBecause !== "request" ? disabledBecause : null };
}

/** Ends the session of an endpoint that was deleted or that another node has leased. Sends nothing more. */
export function endSession(session: Session): void {
  session.isEnded = true;
  session.stop.abort();
}

/** Whether the session has something to do, or had until a moment ago. */
export function isBusy(session: Session): boolean {
  if (session.isEnded) return isSending(session);
  if (session.attempts.size > 0 || session.unsaved.length > 0 || session.saving.running() !== undefined) return true;
  return performance.now() - session.activeAt < lingerMs;
}

/** Whether an attempt may still be answered. */
export function isSending({ attempts }: Session): boolean {
  return [...attempts.values()].some(({ isSkipped }) => !isSkipped);
}

/** Whether new events may be sent. Not if any delivery of an ordered endpoint waits, or `waitingMax` deliveries of another one. */
export function takesNew({ webhook, waiting }: Session): boolean {
  return webhook.enabled && waiting < (webhook.ordered ? 1 : waitingMax);
}

/** Returns the next message to send; undefined if no attempt may start now. */
function nextMessage(session: Session, now: number): Message | undefined {
  const { attempts, webhook, health, unsaved } = session;
  const concurrency = webhook.ordered ? 1 : session.concurrency;
  if (session.isStale || session.isEnded || attempts.size >= concurrency || unsaved.length >= unsavedMax) return undefined;
  if (session.busyUntil > now) return undefined;
  const isPaused = health.pausedUntil !== null && health.pausedUntil > now;
  const at = isPaused ? session.retries.findIndex(({ delivery }) => delivery?.ignoresPause) : 0;
  const [retry] = at < 0 ? [] : session.retries.splice(at, 1);
  if (retry) return attempts.has(retry.messageId) ? nextMessage(session, now) : retry;
  if (isPaused || !takesNew(session)) return undefined;
  const message = session.queue.shift();
  if (!message) return undefined;
  session.cursor = message.position ?? session.cursor;
  // After a replay, an attempt of the same message may already be running: skip the message.
  return attempts.has(message.messageId) ? nextMessage(session, now) : message;
}

/** Records an attempt: queues its delivery to be saved, and updates the endpoint's health at once. */
function recordOutcome(session: Session, { message, isSaved }: Attempt, outcome: Outcome, durationMs: number, now: number): void {
  const { delivery } = message;
  const giveUpAt = giveUpAtOf(message, now);
  const delivered = isDelivered(outcome);
  const next = delivered ? null : nextAttemptAt((delivery?.attempts ?? 0) + 1, giveUpAt, now, Math.random());
  const before = session.health;
  session.health = healthAfter(before, outcome, message.position, now);
  session.recovered ||= hasRecovered(before, session.health);
  session.concurrency = delivered ? Math.min(session.concurrency + 1, concurrencyMax) : 1;
  const wasWaiting = delivery !== undefined || isSaved;
  session.waiting += Number(next !== null) - Number(wasWaiting);
  if (next !== null) session.dueAt = Math.min(next, session.dueAt ?? Infinity);
  session.unsaved.push({
    ...rowOf(message, giveUpAt),
    status: delivered ? "delivered" : next === null ? "failed" : "pending",
    attempted: true,
    nextAttemptAt: next,
    attemptedAt: now,
    durationMs,
    responseStatus: outcome.status,
    responseBody: outcome.status === null ? null : outcome.answer,
    error: errorOf(outcome),
  });
}

/** Puts a message back that got no place: it was not sent, so it counts as no attempt. A new one is saved as a delivery that is due. */
function putBack(session: Session, { message, isSaved }: Attempt, now: number): void {
  session.attempts.delete(message.messageId);
  session.busyUntil = now + busyPauseMs;
  session.dueAt = Math.min(now, session.dueAt ?? Infinity);
  if (message.delivery !== undefined || isSaved) return;
  session.unsaved.push({ ...rowOf(message, giveUpAtOf(message, now)), nextAttemptAt: now });
  session.waiting += 1;
}

/** Skips events that were deleted from the log before they were sent. Adds a failed delivery that names them. */
function skipExpired(session: Session, from: number, to: number): void {
  const messageId = `expired_${from}_${to}`;
  const message = { messageId, position: to, type: expiredType, requestId: null, text: "", delivery: undefined };
  const error = `Events ${from} to ${to} were deleted from the log before they were sent.`;
  session.unsaved.push({ ...rowOf(message, 0), status: "failed", error });
  session.cursor = Math.max(session.cursor, to);
}

/** Returns the attempts that have run for over `slowMs` and whose deliveries have no row yet. */
export function slowAttempts({ attempts }: Session): Attempt[] {
  const time = performance.now();
  return [...attempts.values()].filter(
    ({ message, startedAt, isSaved }) => !isSaved && message.delivery === undefined && time - startedAt > slowMs,
  );
}

/** Returns the row to save for a slow attempt. */
export function slowDelivery({ message }: Attempt, now: number): SavedDelivery {
  return { ...rowOf(message, giveUpAtOf(message, now)), nextAttemptAt: now + slowGuardMs };
}

/** When a message is tried for the last time: as its delivery says. The end of the first attempt sets it anew, even if a row was saved during that attempt. */
function giveUpAtOf({ delivery }: Message, now: number): number {
  return delivery?.giveUpAt ?? now + retriedMs;
}

function rowOf({ messageId, position, type, requestId, delivery }: Message, giveUpAt: number): SavedDelivery {
  const row = {
    messageId,
    position,
    type,
    requestId,
    body: delivery?.body ?? null,
    status: "pending",
    giveUpAt,
    attempted: false,
  } as const;
  const empty = { nextAttemptAt: null, attemptedAt: null, durationMs: null, responseStatus: null, responseBody: null, error: null };
  return { ...row, ...empty };
}

/** Returns the position that may be saved together with all deliveries so far. `except`: attempts whose rows are saved with it. */
export function positionToSave({ attempts, cursor, queue, readTo }: Session, except: readonly Attempt[] = []): number {
  let position = queue.length === 0 ? Math.max(cursor, readTo) : cursor;
  for (const attempt of attempts.values()) {
    const { delivery, position: own } = attempt.message;
    if (delivery === undefined && !attempt.isSaved && !except.includes(attempt) && own !== null) position = Math.min(position, own - 1);
  }
  return position;
}

/** Reads the retries that are due, and new events once all earlier ones have been started. */
export async function fill(context: DeliveryContext, session: Session): Promise<void> {
  if (session.isEnded || session.isStale) return;
  const db = context.db.as({ caller: session.webhook.accountId });
  const now = context.clock();
  if (session.retries.length === 0 && session.dueAt !== null && session.dueAt <= now) await db.scan(() => readRetries(db, session, now));
  if (session.queue.length === 0 && session.hasNew && takesNew(session)) await db.scan(() => readNew(db, session));
}

async function readRetries(db: Database, session: Session, now: number): Promise<void> {
  const { accountId, id: webhookId } = session.webhook;
  // Rows of running attempts, and those that are not committed yet, still look due.
  const busy = new Set([...session.attempts.keys(), ...session.unsaved.map(({ messageId }) => messageId)]);
  const due = await dueDeliveries(db, { accountId, webhookId }, now, deliveriesPerRead);
  const waiting = due.filter(({ messageId }) => !busy.has(messageId));
  const messages = await Promise.all(waiting.map((delivery) => messageOfDelivery(db, accountId, delivery)));
  session.retries.push(...messages.toSorted(inTurn));
}

/** Orders messages that were asked for before the others, and each by position. */
function inTurn({ delivery: a }: Message, { delivery: b }: Message): number {
  return Number(b?.ignoresPause) - Number(a?.ignoresPause) || (a?.position ?? 0) - (b?.position ?? 0);
}

/** Returns a delivery's message. Its text is empty if the event is no longer kept. */
async function messageOfDelivery(db: Database, accountId: number, delivery: StoredDelivery): Promise<Message> {
  const { messageId, position, type, requestId } = delivery;
  const event = position === null ? undefined : await eventAt(db, accountId, position);
  const text = delivery.body ?? (event ? messageOf(event).text : "");
  return { messageId, position, type, requestId, text, delivery };
}

/** Reads new events of the endpoint's types. If events were deleted before they were sent, continues with the oldest that is kept. */
async function readNew(db: Database, session: Session): Promise<void> {
  const { accountId, types, replays } = session.webhook;
  session.hasNew = false;
  const after = Math.max(session.cursor, session.readTo);
  const all = types.includes("*");
  const newest = all ? undefined : (await newestEvent(db, accountId)).position;
  try {
    const events = await readEvents(db, accountId, { after, limit: eventsPerRead, types: all ? undefined : typesOf(types) });
    if (session.webhook.replays !== replays) return void (session.hasNew = true);
    session.queue.push(...events.map(messageOf));
    const isFull = events.length === eventsPerRead;
    session.readTo = Math.max(after, events.at(-1)?.position ?? 0, isFull ? 0 : (newest ?? 0));
    session.hasNew ||= isFull;
  } catch (error) {
    if (!(error instanceof Problem && error.code === "events_expired")) throw error;
    const { position } = await logStart(db, accountId);
    session.hasNew = true;
    if (session.webhook.replays === replays) skipExpired(session, after + 1, position - 1);
  }
}

/** Starts all attempts that may start now. */
export function startAttempts(context: DeliveryContext, session: Session): void {
  if (!context.leases.isHeld(session.lease)) return;
  for (let message = nextMessage(session, context.clock()); message; message = nextMessage(session, context.clock())) {
    const attempt: Attempt = { message, startedAt: performance.now(), isSaved: false, isSkipped: false };
    session.attempts.set(message.messageId, attempt);
    session.activeAt = attempt.startedAt;
    void make(context, session, attempt);
  }
}

/** Makes an attempt once it has a place. Never rejects. */
async function make(context: DeliveryContext, session: Session, attempt: Attempt): Promise<void> {
  const places = session.health.failingSince === null ? context.places : context.failingPlaces;
  const refused = (): void => (session.isEnded ? void (attempt.isSkipped = true) : putBack(session, attempt, context.clock()));
  await runInTurn(places, session.webhook.accountId, () => send(context, session, attempt), refused);
  void session.sending.run();
  void session.saving.run();
}

/** Sends a message once and records the outcome. */
async function send({ sender, clock, leases, onAttempt }: DeliveryContext, session: Session, attempt: Attempt): Promise<void> {
  if (!leases.isHeld(session.lease)) session.isEnded = true;
  if (session.isEnded) return void (attempt.isSkipped = true);
  attempt.startedAt = performance.now();
  const { accountId, id: webhookId } = session.webhook;
  const { messageId, position, requestId, type, text } = attempt.message;
  const { current, previous, previousUntil } = session.secrets;
  const secrets = previous !== undefined && clock() < previousUntil ? [current, previous] : [current];
  const headers = {
    "content-type": "application/json",
    "user-agent": "petstore-webhooks",
    ...signedHeaders(attempt.message, clock(), secrets),
  };
  const sent = { url: session.url, headers, body: text, accountId, signal: session.stop.signal };
  const outcome: Outcome = text === "" ? { status: null, error: "The event is no longer kept." } : await sender.send(sent);
  if (outcome.status === null && outcome.isAborted) return void (attempt.isSkipped = true);
  session.activeAt = performance.now();
  const ms = Math.round(session.activeAt - attempt.startedAt);
  session.attempts.delete(messageId);
  const { health } = session;
  recordOutcome(session, text === "" ? withoutRetry(attempt) : attempt, outcome, ms, clock());
  // Nothing was sent, so the endpoint's health stays as it was.
  if (text === "") return void (session.health = health);
  onAttempt({ accountId, webhookId, messageId, position, requestId, type, status: outcome.status, isDelivered: isDelivered(outcome), ms });
}

/** Returns a copy of an attempt whose message will not be tried again. */
function withoutRetry(attempt: Attempt): Attempt {
  const { message } = attempt;
  return { ...attempt, message: { ...message, delivery: message.delivery && { ...message.delivery, giveUpAt: 0 } } };
}
