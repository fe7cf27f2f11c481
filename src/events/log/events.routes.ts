import type { Database } from "../../platform/db/database.ts";
import type { Caller } from "../../platform/http/caller.ts";
import { type Answer, listed, operation, type Operation } from "../../platform/http/operation.ts";
import { limitDefault, linkToNext } from "../../platform/http/paging.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { Type } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";
import { eventJson, eventsExpired, hashAt, logStart, newestEvent, readEvents, type Reading, type StoredEvent } from "./events.store.ts";
import { Checkpoint, CheckpointQuery, eventExample, Events, EventsQuery, eventTypesOf, StreamQuery } from "./events.ts";
import type { Listeners } from "./listeners.ts";
import { streamEvents } from "./stream.ts";

export type EventServices = {
  listeners: Listeners;
  /** The places of exports. */
  exports: FairShare<number>;
  /** Whether a caller may still read events. */
  mayRead: (caller: Caller) => Promise<boolean>;
};

const tag = "Events";
const path = "/events";
const scope = "events:read";
const positionForm = /^\d{1,15}$/;

export const eventRoutes: Operation<EventServices>[] = [
  operation({
    operationId: "listEvents",
    method: "GET",
    path,
    tag,
    summary: "List events",
    description: "The account's events in order, without gaps. For later ones, send the last `position` as `after`.",
    scope,
    stability: "beta",
    query: EventsQuery,
    example: { query: { after: 0, types: ["order.*"], limit: 1 } },
    answers: { 200: listed("The events.", Events, [eventExample]) },
    problems: ["events_expired"],
    read: async (db, { accountId, query, services }) => {
      const types = eventTypesOf(query.types);
      const after = query.after ?? (await logStart(db, accountId)).position - 1;
      const limit = query.limit ?? limitDefault;
      const reading = { after, types, limit: limit + 1 };
      const found = await readWaiting(db, accountId, reading, (query.wait ?? 0) * 1_000, services.listeners);
      const events = found.slice(0, limit);
      const last = events.at(-1);
      const headers = found.length > limit && last ? linkToNext(path, query, "after", last.position) : {};
      return { status: 200, headers, text: `[${events.map(eventJson).join(",")}]` };
    },
  }),
  operation({
    operationId: "streamEvents",
    method: "GET",
    path: "/events/stream",
    tag,
    summary: "Stream events",
    description:
      "Server-sent events: `id` is the position, `data` an Event. A client that connects again with `Last-Event-ID` misses nothing. At most 20 streams an account.",
    scope,
    stability: "beta",
    query: StreamQuery,
    example: { query: { after: 0, wait: 0 } },
    answers: {
      200: {
        description: "The events as they happen.",
        schema: Type.String(),
        mediaType: "text/event-stream",
        example: 'id: 1\ndata: {"position":1}\n\n',
      },
    },
    problems: ["events_expired"],
    read: async (db, { accountId, query, headers, caller, services }) => {
      const types = eventTypesOf(query.types);
      const after = lastEventId(headers["last-event-id"]) ?? query.after ?? (await newestEvent(db, accountId)).position;
      await requireKept(db, accountId, after);
      const { listeners, mayRead } = services;
      const listener = listeners.listen("stream", accountId);
      const endsAfterMs = query.wait === undefined ? Infinity : query.wait * 1_000;
      const streaming = { db, accountId, after, types, endsAfterMs, listener, isClosed: () => listeners.isClosed() };
      return {
        status: 200,
        headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
        stream: (body) => void streamEvents(body, { ...streaming, isAllowed: () => mayRead(caller) }),
      } satisfies Answer;
    },
  }),
  operation({
    operationId: "getEventsCheckpoint",
    method: "GET",
    path: "/events/checkpoint",
    tag,
    summary: "Get a checkpoint of the events",
    description: "The hash at a position, and the oldest event that is kept.",
    details: "With both you can prove that your copy of the events is complete.",
    scope,
    stability: "beta",
    query: CheckpointQuery,
    answers: {
      200: {
        description: "The checkpoint.",
        schema: Checkpoint,
        example: { position: 1, hash: eventExample.hash, oldest: { position: 1, previousHash: "0".repeat(64) } },
      },
    },
    problems: ["events_expired"],
    read: async (db, { accountId, query }) => {
      const newest = await newestEvent(db, accountId);
      const position = query.position ?? newest.position;
      const hash = position === newest.position ? newest.hash : await hashAt(db, accountId, position);
      const oldest = await logStart(db, accountId);
      if (position > newest.position) throw beyond("position", newest.position);
      if (position === oldest.position - 1) return { status: 200, body: { position, hash: oldest.previousHash, oldest } };
      if (position < oldest.position || hash === undefined) throw eventsExpired(oldest.position);
      return { status: 200, body: { position, hash, oldest } };
    },
  }),
];

/** Reads events. If there are none, waits for some for up to `waitMs`. A position beyond the newest event is a 400. */
async function readWaiting(
  db: Database,
  accountId: number,
  reading: Reading,
  waitMs: number,
  listeners: Listeners,
): Promise<StoredEvent[]> {
  const events = await db.scan(() => readEvents(db, accountId, reading));
  if (events.length > 0) return events;
  await requireKept(db, accountId, reading.after);
  if (waitMs === 0) return events;
  const listener = listeners.listen("wait", accountId);
  try {
    const end = performance.now() + waitMs;
    for (;;) {
      const found = await db.scan(() => readEvents(db, accountId, reading));
      const left = end - performance.now();
      if (found.length > 0 || left <= 0 || listeners.isClosed()) return found;
      await listener.next(left);
    }
  } finally {
    listener.close();
  }
}

/** @throws Problem `invalid_request` if `after` is beyond the newest event; `events_expired` if events after it were deleted */
async function requireKept(db: Database, accountId: number, after: number): Promise<void> {
  const newest = await newestEvent(db, accountId);
  if (after > newest.position) throw beyond("after", newest.position);
  const { position } = await logStart(db, accountId);
  if (after < position - 1) throw eventsExpired(position);
}

function beyond(name: string, newest: number) {
  const message = `must be at most ${newest}, the position of the newest event`;
  return invalidAt(`query.${name}`, message, `${name} ${message}.`);
}

/** @throws Problem `invalid_request` */
function lastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === "") return undefined;
  if (typeof header === "string" && positionForm.test(header)) return Number(header);
  throw invalidAt("header.Last-Event-ID", "must be the position of an event", "Last-Event-ID must be the position of an event.");
}
