import { DateTime, Id, named, Nullable, openEnumeration, paging, variant } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";

const DeliveryStatus = openEnumeration("DeliveryStatus", ["pending", "delivered", "failed"]);

const shown = {
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

export const Delivery = named("WebhookDelivery", Type.Object(shown, { additionalProperties: false }));
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
