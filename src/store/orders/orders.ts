import { DateTime, Id, int32Max, named, Nullable, OwnId, paging, Sort, writtenBack } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";

const petId = Id("ID of the pet in the order. An order without it is a draft.");
const quantity = Type.Integer({ minimum: 1, maximum: int32Max, default: 1, description: "Number of units ordered." });
const shipDate = DateTime("Expected or actual ship date, ISO 8601.");
const complete = Type.Boolean({ default: false, description: "Whether the order has been fulfilled." });
const id = Id("Unique order identifier.");
const fields = {
  id: Type.Optional(id),
  petId: Type.Optional(petId),
  quantity: Type.Optional(quantity),
  shipDate: Type.Optional(shipDate),
  complete: Type.Optional(complete),
};

export const Order = named("Order", Type.Object(fields, { additionalProperties: false }));
export type Order = Static<typeof Order>;
/** The body of a new order. It has its own schema because an optional field may be null in a body, but never in an answer. */
export const OrderInput = named("OrderInput", Type.Object(fields, { additionalProperties: false }));
export type OrderInput = Static<typeof OrderInput>;
export const WrittenOrder = writtenBack(OrderInput, { id: OwnId("orderId") });

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
export const WrittenOrderPatch = writtenBack(OrderPatch, { id: OwnId("orderId") });

export const OrderPath = Type.Object({ orderId: Id("The order's identifier.") });

export const OrderQuery = Type.Object({
  petId: Type.Optional(Id("Only orders of this pet.")),
  complete: Type.Optional(Type.Boolean({ description: "`true`: only fulfilled orders; `false`: only open ones." })),
  sort: Type.Optional(Sort(["id", "-id"], "The order.")),
  ...paging,
});
export type OrderQuery = Static<typeof OrderQuery>;

/** The fields of an order that a client sets. `shipDate` is in milliseconds since the Unix epoch; null means not set. */
export type OrderFields = { petId: number | null; quantity: number; shipDate: number | null; complete: boolean };

/** Applies a merge patch to an order (RFC 7396): `null` removes a value or resets it to its default. */
export function patchOrder(order: Order, { id: _id, ...patch }: OrderPatch): Order {
  const entries = Object.entries({ ...order, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(entries);
}

/** Returns how many units an open order gives back to the stock, and how many it takes, when its fields change from `before` to `after`. */
export function unitsMoved(held: number, before: OrderFields, after: OrderFields): { give: number; take: number } {
  if (before.petId !== after.petId) return { give: held, take: after.petId === null ? 0 : after.quantity };
  const increase = after.quantity - before.quantity;
  return increase >= 0 ? { give: 0, take: increase } : { give: Math.min(held, -increase), take: 0 };
}
