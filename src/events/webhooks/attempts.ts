import { performance } from "node:perf_hooks";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { acquire, release, type FairShare } from "../../platform/jobs/fair-share.ts";
import type { RowLeases } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import { logStart, newestEvent, readEvents, type StoredEvent } from "../log/events.store.ts";
import { dueDeliveries, type StoredDelivery } from "./deliveries.store.ts";
import { messageOf } from "./message.ts";
import { isDelivered } from "./schedule.ts";
import type { Sender } from "./sender.ts";
import { nextItem, putBack, skipExpired, recordResult, takesNew, type Flight, type Item, type Session } from "./session.ts";
import { signedHeaders } from "./signature.ts";
import { typesOf } from "./webhooks.ts";

export type AttemptParts = {
  db: Database;
  clock: Clock;
  leases: RowLeases;
  sender: Sender;
  /** Limits how many attempts run at once on this node. Accounts take turns. */
  places: FairShare<number>;
  /** The same for endpoints whose last attempt failed, so that endpoints that hang cannot use up all places. */
  failingPlaces: FairShare<number>;
  onAttempt: (attempted: Attempted) => void;
};

/** An attempt that has ended. `status` is null if there was no answer. */
export type Attempted = {
  accountId: number;
  webhookId: number;
  messageId: string;
  requestId: string | null;
  type: string;
  status: number | null;
  isDelivered: boolean;
  ms: number;
};

const readMax = 50;
const retriesMax = 20;

/** Reads the retries that are due, and new events once all earlier ones have been started. */
export async function fill(parts: AttemptParts, session: Session): Promise<void> {
  if (session.isEnded || session.isStale) return;
  const own = { ...parts, db: parts.db.as({ caller: session.webhook.accountId }) };
  const isDue = session.retries.length === 0 && session.dueAt !== null && session.dueAt <= parts.clock();
  if (isDue) await own.db.scan(() => readRetries(own, session));
  if (session.queue.length === 0 && session.hasNew && takesNew(session)) await own.db.scan(() => readNew(own, session));
}

async function readRetries({ db, clock }: AttemptParts, session: Session): Promise<void> {
  const { accountId, id: webhookId } = session.webhook;
  // Rows of running attempts, and of results that are not committed yet, still look due.
  const busy = new Set([...session.flights.keys(), ...session.unsaved]);
  const due = await dueDeliveries(db, { accountId, webhookId }, clock(), retriesMax);
  const waiting = due.filter(({ messageId }) => !busy.has(messageId));
  const items = await Promise.all(waiting.map((stored) => itemOf(db, accountId, stored)));
  session.retries.push(...items.toSorted(inTurn));
}

/** Orders messages that were asked for before the others, and each by position. */
function inTurn({ stored: a }: Item, { stored: b }: Item): number {
  return Number(b?.ignoresPause) - Number(a?.ignoresPause) || (a?.position ?? 0) - (b?.position ?? 0);
}

/** Returns a delivery's message. Its text is empty if the event is no longer kept. */
async function itemOf(db: Database, accountId: number, stored: StoredDelivery): Promise<Item> {
  const { messageId, position, type, requestId } = stored;
  const event = position === null ? undefined : await eventAt(db, accountId, position);
  const text = stored.body ?? (event ? messageOf(event).text : "");
  return { messageId, position, type, requestId, text, stored };
}

/** Returns the event at a position; undefined if it is no longer kept. */
export async function eventAt(db: Database, accountId: number, position: number): Promise<StoredEvent | undefined> {
  try {
    const [event] = await readEvents(db, accountId, { after: position - 1, limit: 1 });
    return event?.position === position ? event : undefined;
  } catch (error) {
    if (error instanceof Problem && error.code === "events_expired") return undefined;
    throw error;
  }
}

/** Reads new events of the endpoint's types. If events were deleted before they were sent, continues with the oldest that is kept. */
async function readNew({ db }: AttemptParts, session: Session): Promise<void> {
  const { accountId, types, replays } = session.webhook;
  session.hasNew = false;
  const after = Math.max(session.cursor, session.readTo);
  const all = types.includes("*");
  const newest = all ? undefined : (await newestEvent(db, accountId)).position;
  try {
    const events = await readEvents(db, accountId, { after, limit: readMax, types: all ? undefined : typesOf(types) });
    if (session.webhook.replays !== replays) return void (session.hasNew = true);
    session.queue.push(...events.map(messageOf));
    const isFull = events.length === readMax;
    session.readTo = Math.max(after, events.at(-1)?.position ?? 0, isFull ? 0 : (newest ?? 0));
    session.hasNew ||= isFull;
  } catch (error) {
    if (!(error instanceof Problem && error.code === "events_expired")) throw error;
    const { position } = await logStart(db, accountId);
    session.hasNew = true;
    if (session.webhook.replays === replays) skipExpired(session, after + 1, position - 1);
  }
}

/** Starts all attempts that may start now. `onEnd` is called after each. */
export function startAttempts(parts: AttemptParts, session: Session, onEnd: () => void): void {
  if (!parts.leases.isHeld(session.lease)) return;
  for (let item = nextItem(session, parts.clock()); item; item = nextItem(session, parts.clock())) {
    const flight: Flight = { item, startedAt: performance.now(), isSaved: false, isDropped: false };
    session.flights.set(item.messageId, flight);
    session.activeAt = flight.startedAt;
    void attempt(parts, session, flight).then(onEnd);
  }
}

/** Sends a message once and records the result. Never rejects. */
async function attempt(parts: AttemptParts, session: Session, flight: Flight): Promise<void> {
  const { sender, clock, leases, onAttempt } = parts;
  const { item } = flight;
  const { accountId, id: webhookId } = session.webhook;
  const places = session.health.failingSince === null ? parts.places : parts.failingPlaces;
  const refusal = await acquire(places, accountId);
  if (refusal !== undefined) return session.isEnded ? void (flight.isDropped = true) : putBack(session, flight, clock());
  const heldFrom = performance.now();
  try {
    if (session.isEnded || !leases.isHeld(session.lease)) {
      session.isEnded = true;
      return void (flight.isDropped = true);
    }
    flight.startedAt = performance.now();
    const { current, previous, previousUntil } = session.secrets;
    const secrets = previous !== undefined && clock() < previousUntil ? [current, previous] : [current];
    const headers = {
      "content-type": "application/json",
      "user-agent": "petstore-webhooks",
      ...signedHeaders({ id: item.messageId, timestamp: Math.floor(clock() / 1_000), body: item.text }, secrets),
    };
    const sent = { url: session.url, headers, body: item.text, accountId, signal: session.stop.signal };
    const outcome = item.text === "" ? ({ status: null, error: "The event is no longer kept." } as const) : await sender.send(sent);
    if (outcome.status === null && "isAborted" in outcome && outcome.isAborted) return void (flight.isDropped = true);
    session.activeAt = performance.now();
    const ms = Math.round(session.activeAt - flight.startedAt);
    session.flights.delete(item.messageId);
    const { health } = session;
    recordResult(session, item.text === "" ? withoutRetry(flight) : flight, outcome, ms, clock());
    // Nothing was sent, so the endpoint's health stays as it was.
    if (item.text === "") return void (session.health = health);
    const { messageId, requestId, type } = item;
    onAttempt({ accountId, webhookId, messageId, requestId, type, status: outcome.status, isDelivered: isDelivered(outcome), ms });
  } finally {
    release(places, accountId, performance.now() - heldFrom);
  }
}

/** Returns a copy of a flight whose message will not be tried again. */
function withoutRetry(flight: Flight): Flight {
  const { stored } = flight.item;
  return stored ? { ...flight, item: { ...flight.item, stored: { ...stored, giveUpAt: 0 } } } : flight;
}
