import type { Database } from "../../platform/db/database.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import type { EventServices } from "./events.routes.ts";
import { NamedEvent, withNames } from "./named-events.ts";
import { isOrderWaiting, orderHistory, requireOrder } from "./order-history.store.ts";

/** The longest time (ms) that an answer waits for events of the order to get their positions. */
const waitMs = 1_000;
const lookAgainMs = 50;

const OrderHistory = Type.Object({
  events: Type.Array(NamedEvent),
  isWhole: Type.Boolean({
    description: "False if some of its events are not shown, because they are no longer kept or there are too many.",
  }),
});

/** The history of an order, for the dashboard. */
export const orderHistoryRoutes: Operation<Pick<EventServices, "listeners">>[] = [
  operation({
    operationId: "getOrderHistory",
    method: "GET",
    path: "/orders/{orderId}/history",
    tag: "Orders",
    summary: "Get the history of an order",
    description:
      "How the order was placed, and its newest 100 changes, the oldest first, with who made them. A cancelled order has one too.",
    scope: "orders:read",
    params: Type.Object({ orderId: Id("The order's identifier.") }),
    answers: { 200: { description: "What happened to the order.", schema: OrderHistory } },
    problems: ["not_found"],
    read: async (db, { accountId, params: { orderId }, services }) => {
      await untilNumbered(db, accountId, orderId, services);
      const { events, isWhole } = await orderHistory(db, accountId, orderId);
      if (events.length === 0) await requireOrder(db, accountId, orderId);
      return { status: 200, body: { events: await withNames(db, accountId, events), isWhole } };
    },
  }),
];

/** Waits until all events of the order have positions, so that members see the change that they just made. */
async function untilNumbered(
  db: Database,
  accountId: number,
  orderId: number,
  { listeners }: Pick<EventServices, "listeners">,
): Promise<void> {
  const end = performance.now() + waitMs;
  while (await db.scan(() => isOrderWaiting(db, accountId, orderId))) {
    const left = end - performance.now();
    if (left <= 0 || listeners.isClosed()) return;
    const listener = listeners.listen("wait", accountId);
    try {
      await listener.next(Math.min(left, lookAgainMs));
    } finally {
      listener.close();
    }
  }
}
