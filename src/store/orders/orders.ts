import { Type, type Static } from "typebox";
import { DateTime, Id, int32Max, named, Nullable, paging } from "../../platform/http/schemas.ts";

const petId = Id("ID of the animal in the order. An order without it is a draft.");
const quantity = Type.Integer({ minimum: 1, maximum: int32Max, default: 1, description: "Number of units ordered." });
const shipDate = DateTime("Expected or actual ship date, ISO 8601.");
const complete = Type.Boolean({ default: false, description: "Whether the order has been fulfilled." });
const id = Id("Unique order identifier.");

export const Order = named(
  "Order",
  Type.Object(
    {
      id: Type.Optional(id),
      petId: Type.Optional(petId),
      quantity: Type.Optional(quantity),
      shipDate: Type.Optional(shipDate),
      complete: Type.Optional(complete),
    },
    { additionalProperties: false },
  ),
);
export type Order = Static<typeof Order>;

export const Orders = named("Orders", Type.Array(Order));

const withoutDefault = <T extends object>({ default: _default, ...schema }: T & { default?: unknown }) => schema as T;

export const OrderPatch = named(
  "OrderPatch",
  Type.Object(
    {
      id: Type.Optional(id),
      petId: Type.Optional(Nullable(petId)),
      quantity: Type.Optional(Nullable(withoutDefault(quantity))),
      shipDate: Type.Optional(Nullable(shipDate)),
      complete: Type.Optional(Nullable(withoutDefault(complete))),
    },
    { additionalProperties: false },
  ),
);
export type OrderPatch = Static<typeof OrderPatch>;

export const OrderPath = Type.Object({ orderId: Id("The order's identifier.") });
export const OrderQuery = Type.Object({
  petId: Type.Optional(Id("Only orders of this animal.")),
  complete: Type.Optional(Type.Boolean({ description: "Only orders that are fulfilled, or that are not." })),
  ...paging,
});
export type OrderQuery = Static<typeof OrderQuery>;

/** What a client sets of an order; `shipDate` in milliseconds since the Unix epoch, null for what is not set. */
export type OrderFields = { petId: number | null; quantity: number; shipDate: number | null; complete: boolean };

/** The order as a merge patch leaves it (RFC 7396): `null` takes a value away, or back to its default. */
export function patchOrder(order: Order, { id: _id, ...patch }: OrderPatch): Order {
  const entries = Object.entries({ ...order, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(entries);
}

/** How a change of an open order moves its units. `give` of those it holds come back; `take` more are wanted. */
export function unitsMoved(held: number, before: OrderFields, after: OrderFields): { give: number; take: number } {
  if (before.petId !== after.petId) return { give: held, take: after.petId === null ? 0 : after.quantity };
  const more = after.quantity - before.quantity;
  return more >= 0 ? { give: 0, take: more } : { give: Math.min(held, -more), take: 0 };
}
