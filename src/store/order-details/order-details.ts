import { DateTime, Id, Nullable } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { Order } from "../orders/orders.ts";
import { price, type Price } from "../profiles/profiles.ts";
import { State } from "../reservations/reservations.ts";

const OrderDetails = Type.Object({
  id: Id(""),
  placedAt: Nullable(DateTime("Null if it was not noted.")),
  price: Nullable(price),
  total: Nullable(Type.Integer({ description: "In minor units of the currency of `price`." })),
  customer: Nullable(Type.Object({ name: Nullable(Type.String()) }, { description: "Null without a contact." })),
  reservation: Nullable(
    Type.Object(
      { id: Id(""), state: State, lapsesAt: Nullable(DateTime("Null if it lapses no more.")) },
      { description: "That of a visitor whose order it is; null for any other." },
    ),
  ),
});
export type OrderDetails = Static<typeof OrderDetails>;
export const ManyDetails = Type.Object({ orders: Type.Array(OrderDetails) });

/** The most other orders of a customer in an answer. */
export const othersMax = 20;
export const OtherOrders = Type.Object({ orders: Type.Array(Order), isMore: Type.Boolean() });

/** The price of all units in minor units; null if there is no price, or if the total is no safe integer. */
export function totalOf(unit: Price | null, quantity: number): number | null {
  if (unit === null) return null;
  const total = unit.amount * quantity;
  return Number.isSafeInteger(total) ? total : null;
}
