import { hash, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { canonicalJson, quoted } from "./canonical-json.ts";
import type { EventType, resourceTypes } from "./event-types.ts";
import { formatDateTime } from "./http/dates.ts";

type ActorType = "key" | "member" | "operator" | "system";
type Actor = { type: ActorType; id: number | null };

/** Who makes a change, with which request, and when (ms since the Unix epoch; default: the time at which it is recorded). */
export type Origin = { actor: Actor; requestId: string | null; at?: number };

/** The origin of background work. */
export const systemOrigin: Origin = { actor: { type: "system", id: null }, requestId: null };
/** The origin of an operator's command. */
export const operatorOrigin: Origin = { actor: { type: "operator", id: null }, requestId: null };

/** An actor as a row keeps it: `key/3`, `operator`. */
export function actorText({ type, id }: Actor): string {
  return id === null ? type : `${type}/${id}`;
}

/** Parses the text of an actor. Null stands for the system. */
export function actorOfText(text: string | null): Actor {
  const [type = "system", id] = (text ?? "system").split("/");
  return { type: type as ActorType, id: id === undefined ? null : Number(id) };
}

/** A change of one resource, which a store records in the transaction of the change. */
export type EventDraft = {
  accountId: number;
  type: EventType;
  resource: { type: (typeof resourceTypes)[number]; id: number | string };
  /** The resource after the change, as the API shows it; its last state if it was deleted. */
  data: object;
  /** The previous values of the fields that changed; null for a field that was absent. Default: none. */
  previous?: object;
  /** The version of the resource's row after the change, if it has one. */
  version?: number;
};

/**
 * An event without its position, which comes between `head` and `tail` in the event's text. The text is the RFC 8785 form of the event
 * without its hash: it is made once, hashed, stored and sent.
 */
export type RecordedEvent = {
  accountId: number;
  type: string;
  at: number;
  /** `order/17` */
  resource: string;
  /** `key/3`, `system` */
  actor: string;
  requestId: string | null;
  version: number | null;
  head: string;
  tail: string;
};

const idsOfProcess = randomBytes(12).toString("hex");
let idsMade = 0;

/** An id that no other event has, of this process or another. */
function newId(): string {
  idsMade += 1;
  return `evt_${idsOfProcess}${idsMade.toString(16).padStart(8, "0")}`;
}

/**
 * @param now the time of origins that have none
 * @param own what differs from the origin of the write
 */
export function recordedEvent(draft: EventDraft, origin: Origin, now: () => number, own: Partial<Origin> = origin): RecordedEvent {
  const { accountId, type, resource, data, previous, version } = draft;
  const { actor = origin.actor, requestId = origin.requestId } = own;
  const time = own.at ?? origin.at ?? now();
  const id = typeof resource.id === "number" ? `${resource.id}` : quoted(resource.id);
  return {
    accountId,
    type,
    at: time,
    resource: `${resource.type}/${resource.id}`,
    actor: actorText(actor),
    requestId,
    version: version ?? null,
    head: `{"actor":{"id":${actor.id},"type":"${actor.type}"},"at":"${formatDateTime(time)}","data":${canonicalJson(data)},"id":"${newId()}","position":`,
    tail: `,"previous":${previous === undefined ? "{}" : canonicalJson(previous)},"requestId":${requestId === null ? "null" : quoted(requestId)},"resource":{"id":${id},"type":"${resource.type}"},"type":"${type}"}`,
  };
}

/** The last event of an account's log. */
export type Head = { position: number; hash: string };

/** The head of a log without events. */
export const emptyHead: Head = { position: 0, hash: "0".repeat(64) };

/** An event with its place in the chain. */
export type ChainedEvent = RecordedEvent & Head & { text: string };

/** Gives an event the next position and its hash. */
export function chained(event: RecordedEvent, previous: Head): ChainedEvent {
  const position = previous.position + 1;
  const text = event.head + position + event.tail;
  return { ...event, position, text, hash: hashAfter(previous.hash, text) };
}

/** The hash of an event whose text without its hash is `text` (specification 8.3). */
export function hashAfter(previousHash: string, text: string): string {
  return hash("sha256", `${previousHash}\n${text}`);
}

/** The previous values of the fields in which a resource has changed; null for a field that was absent. */
export function fieldsBefore(before: object, after: object): Record<string, unknown> {
  const old = before as Record<string, unknown>;
  const now = after as Record<string, unknown>;
  const changed: Record<string, unknown> = {};
  for (const name of Object.keys(old)) if (!isSame(old[name], now[name])) changed[name] = old[name] ?? null;
  for (const name of Object.keys(now)) if (old[name] === undefined && now[name] !== undefined) changed[name] = null;
  return changed;
}

function isSame(old: unknown, now: unknown): boolean {
  return old === now || (typeof old === "object" && typeof now === "object" && isDeepStrictEqual(old, now));
}
