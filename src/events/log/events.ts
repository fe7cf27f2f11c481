import { type EventType, eventTypes, resourceTypes } from "../../platform/event-types.ts";
import { DateTime, named, openEnumeration, OpenText } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { invalidAt } from "../../platform/problem.ts";

export const position = Type.Integer({ format: "int64", minimum: 1, description: "The event's place in the account's log, without gaps." });
const Hash = (description: string) => Type.String({ pattern: "^[0-9a-f]{64}$", description });
export const AnyObject = (description: string) => Type.Unsafe<object>({ type: "object", additionalProperties: true, description });
export const EventTypeSchema = openEnumeration("EventType", eventTypes, "What happened to the resource.");
export const ActorType = openEnumeration("ActorType", ["key", "member", "operator", "system"]);
export const nullableId = Type.Unsafe<number | null>({ type: "integer", format: "int64", nullable: true });

const Event = named(
  "Event",
  Type.Object({
    position,
    id: Type.String({ description: "Unique identifier of the event." }),
    type: EventTypeSchema,
    at: DateTime("When it happened."),
    actor: named("EventActor", Type.Object({ type: ActorType, id: nullableId }, { description: "Who did it." })),
    requestId: Type.Unsafe<string | null>({ type: "string", nullable: true, description: "The `X-Request-Id` of the request." }),
    resource: named(
      "EventResource",
      Type.Object({
        type: OpenText(resourceTypes, ""),
        id: Type.Unsafe<number | string>({ anyOf: [{ type: "integer", format: "int64" }, { type: "string" }] }),
      }),
    ),
    data: AnyObject("The resource after the change; its last state if it is gone."),
    previous: AnyObject("The fields that changed, as they were."),
    hash: Hash("SHA-256 of the previous event's hash, LF, and this event without `hash` (RFC 8785)."),
  }),
);

export const Events = named("Events", Type.Array(Event));

export const Checkpoint = named(
  "EventsCheckpoint",
  Type.Object({
    position: Type.Integer({ format: "int64", minimum: 0, description: "0 before the first event." }),
    hash: Hash("The hash of the event at this position."),
    oldest: named(
      "EventsOldest",
      Type.Object({ position, previousHash: Hash("The hash of the event before it.") }, { description: "The oldest event that is kept." }),
    ),
  }),
);

const After = (otherwise: string) =>
  Type.Integer({ format: "int64", minimum: 0, description: `Only events after this position. ${otherwise}` });
export const types = Type.Array(Type.String({ maxLength: 1_000 }), {
  minItems: 1,
  maxItems: 50,
  description: "Only these types, such as `order.created,order.updated` or `order.*`.",
});

export const EventsQuery = Type.Object({
  after: Type.Optional(After("Default: all that are kept.")),
  types: Type.Optional(types),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "The most events to return." })),
  wait: Type.Optional(Type.Integer({ minimum: 0, maximum: 30, default: 0, description: "Seconds to wait for an event if there is none." })),
});

export const StreamQuery = Type.Object({
  after: Type.Optional(After("Default: new events only. `Last-Event-ID` takes precedence.")),
  types: Type.Optional(types),
  wait: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 3_600, description: "Seconds without an event after which the stream ends. Default: never." }),
  ),
});

export const CheckpointQuery = Type.Object({
  position: Type.Optional(Type.Integer({ format: "int64", minimum: 0, description: "Default: the newest event." })),
});

export const eventExample = {
  position: 1,
  id: "evt_5f0c6f0e0f9d4a53a2b7a8f2f3c1d9e4",
  type: "order.created",
  at: "2026-12-24T10:00:00Z",
  actor: { type: "key", id: 1 },
  requestId: "q7Zk2PpW-1f",
  resource: { type: "order", id: 1 },
  data: { id: 1, petId: 1, quantity: 2, complete: false },
  previous: {},
  hash: "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
};

const known: ReadonlySet<string> = new Set(eventTypes);

/**
 * Returns the types that a filter names: `order.created`, or `order.*` for all types that begin with `order.`.
 *
 * @throws Problem `invalid_request` for a type that does not exist
 */
export function eventTypesOf(texts: readonly string[] | undefined): EventType[] | undefined {
  if (texts === undefined) return undefined;
  const chosen = new Set(texts.flatMap((text) => text.split(",")).flatMap((text) => typesOf(text.trim())));
  return eventTypes.filter((one) => chosen.has(one));
}

function typesOf(text: string): readonly EventType[] {
  if (known.has(text)) return [text as EventType];
  const found = text.endsWith(".*") ? eventTypes.filter((one) => one.startsWith(text.slice(0, -1))) : [];
  if (found.length > 0) return found;
  throw invalidAt("query.types", "must be types of events, such as order.created or order.*");
}
