import { DateTime, Id, Nullable } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { Order } from "../orders/orders.ts";

const Price = Type.Object({ amount: Type.Integer(), currency: Type.String() });
export type Price = Static<typeof Price>;

const OrderDetails = Type.Object({
  id: Id(""),
  placedAt: Nullable(DateTime("Null if it was not noted.")),
  price: Nullable(Price),
  total: Nullable(Type.Integer({ description: "In minor units of the currency of `price`." })),
  customer: Nullable(Type.Object({ name: Nullable(Type.String()) }, { description: "Null without a contact." })),
});
export type OrderDetails = Static<typeof OrderDetails>;
export const ManyDetails = Type.Object({ orders: Type.Array(OrderDetails) });

/** The most other orders of a customer in an answer. */
export const othersMax = 20;
export const OtherOrders = Type.Object({ orders: Type.Array(Order), isMore: Type.Boolean() });

/** The price of all units in minor units; null if there is no price, or if the total is no safe integer. */
export function totalOf(price: Price | null, quantity: number): number | null {
  if (price === null) return null;
  const total = price.amount * quantity;
  return Number.isSafeInteger(total) ? total : null;
}
