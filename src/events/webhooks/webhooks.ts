import { type EventType, eventTypes } from "../../platform/event-types.ts";
import { DateTime, Id, named, Nullable, openEnumeration, OwnId, paging, Text, variant, writtenBack } from "../../platform/http/schemas.ts";
import { type Static, Type } from "../../platform/json-schema.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import { invalidAt } from "../../platform/problem.ts";

/** The most endpoints of an account. */
export const webhooksMax = 20;
const typesMax = 100;

const url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  "x-pattern": "^[Hh][Tt][Tt][Pp][Ss]?:[\\x2F]{2}[^\\x00-\\x1F#]+$",
  description: "An `https://` URL on the public internet. Its port is 80, 443, or one from 1024 to 65535.",
});
const typesEntry = Type.String({ maxLength: 100, "x-pattern": "^(?:\\*|[a-z_]+\\.(?:\\*|[a-z_]+))$" });
const types = Type.Array(typesEntry, {
  minItems: 1,
  maxItems: typesMax,
  description: "The types of events to send, such as `order.created`, `order.*` or `*`. Default: `*`.",
});
const description = Text("What the endpoint is for.", 0, 200);
const ordered = Type.Boolean({
  description: "Whether events are sent one by one, in order. A failing one then blocks the others for up to three days. Default: false.",
});
const enabled = Type.Boolean({ description: "Whether events are sent." });

export const WebhookInput = named(
  "WebhookInput",
  Type.Object(
    { url, types: Type.Optional(types), description: Type.Optional(description), ordered: Type.Optional(ordered) },
    { additionalProperties: false },
  ),
);
export type WebhookInput = Static<typeof WebhookInput>;

const WebhookPatch = named(
  "WebhookPatch",
  Type.Object(
    {
      url: Type.Optional(url),
      types: Type.Optional(types),
      description: Type.Optional(description),
      ordered: Type.Optional(ordered),
      enabled: Type.Optional(enabled),
    },
    { additionalProperties: false },
  ),
);
export const WrittenWebhookPatch = writtenBack(WebhookPatch, { id: OwnId("webhookId") });

const shown = {
  id: Id("Unique identifier assigned on creation."),
  url,
  types,
  description,
  ordered,
  enabled,
  disabledBecause: Nullable(
    openEnumeration(
      "WebhookDisabledBecause",
      ["failing", "gone", "request"],
      "It failed for five days, answered 410, or was disabled by request.",
    ),
  ),
  position: Type.Integer({ format: "int64", description: "Every event up to here was sent, or is among the deliveries." }),
  deliveredPosition: Nullable(
    Type.Integer({ format: "int64", description: "The highest position delivered: replay from here to recover." }),
  ),
  deliveredAt: Nullable(DateTime("When the endpoint last accepted a message.")),
  failingSince: Nullable(DateTime("Since when every attempt has failed.")),
  pausedUntil: Nullable(
    DateTime("Until when the endpoint asked for no messages (`Retry-After`), at most a day. A test, a resend or `enabled: true` ends it."),
  ),
  createdAt: DateTime("When the endpoint was created."),
};
export const Webhook = named(
  "Webhook",
  Type.Object(
    { ...shown, secret: Type.Optional(Type.String({ description: "Signs messages. Shown only in the answer that creates it." })) },
    { additionalProperties: false },
  ),
);
export type Webhook = Static<typeof Webhook>;
export const Webhooks = named("Webhooks", Type.Array(Webhook));
export const WebhookPath = Type.Object({ webhookId: Id("The endpoint's identifier.") });
export const PageQuery = Type.Object(paging);

export const WebhookReplay = named(
  "WebhookReplay",
  Type.Object(
    {
      after: Type.Integer({
        format: "int64",
        minimum: 0,
        description: "Sends the events after this position.",
      }),
    },
    { additionalProperties: false },
  ),
);

/**
 * Requires that each entry is `*`, an event type, or a group such as `order.*`.
 *
 * @throws Problem `invalid_request`
 */
export function requireTypes(entries: readonly string[]): void {
  for (const [i, entry] of entries.entries())
    if (typesOf([entry]).length === 0) throw invalidAt(`body.types[${i}]`, "is not `*`, a type of events, or a group such as `order.*`");
}

/** Returns the event types that entries such as `order.*` stand for. */
export function typesOf(entries: readonly string[]): EventType[] {
  const matches = (entry: string, type: string): boolean => {
    return entry === "*" || entry === type || (entry.endsWith(".*") && type.startsWith(entry.slice(0, -1)));
  };
  return eventTypes.filter((type) => entries.some((entry) => matches(entry, type)));
}

/** Returns the change that makes all nodes read an endpoint again. */
export function webhookChanged(accountId: number, id: number): Change {
  return { kind: "webhook", subject: `${accountId}/${id}` };
}

const DeliveryStatus = openEnumeration("DeliveryStatus", ["pending", "delivered", "failed"]);

const deliveryShape = {
  id: Id("Unique identifier of the delivery."),
  messageId: Type.String({ description: "The `webhook-id`: the event's `id`." }),
  position: Nullable(Type.Integer({ format: "int64", description: "The event's position; null for a test." })),
  type: Type.String({ description: "The type of the event." }),
  requestId: Nullable(Type.String({ description: "The request that made the change." })),
  status: DeliveryStatus,
  attempts: Type.Integer({ description: "How often the message was sent." }),
  attemptedAt: Nullable(DateTime("When the last attempt ended.")),
  durationMs: Nullable(Type.Integer({ description: "How long the last attempt took." })),
  responseStatus: Nullable(Type.Integer({ description: "The status of the last answer." })),
  error: Nullable(Type.String({ description: "Why the last attempt failed." })),
  nextAttemptAt: Nullable(DateTime("When the next attempt is due.")),
  createdAt: DateTime("When the message was first sent."),
  requestBody: Type.Optional(Nullable(Type.String({ description: "The first 4 KiB of the message. Not in lists." }))),
  responseBody: Type.Optional(Nullable(Type.String({ description: "The first 4 KiB of the answer. Not in lists." }))),
};

export const Delivery = named("WebhookDelivery", Type.Object(deliveryShape, { additionalProperties: false }));
export type Delivery = Static<typeof Delivery>;
export const Deliveries = named("WebhookDeliveries", Type.Array(Delivery));
export const DeliveryPath = Type.Object({ webhookId: Id("The endpoint's identifier."), deliveryId: Id("The delivery's identifier.") });
export const DeliveryQuery = Type.Object({
  ...paging,
  status: Type.Optional(variant(DeliveryStatus, { description: "Only deliveries with this status." })),
  requestId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "Only deliveries of events that this request caused." }),
  ),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;
