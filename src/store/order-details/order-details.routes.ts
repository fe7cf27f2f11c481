import { operation, type Operation } from "../../platform/http/operation.ts";
import { IdsQuery } from "../../platform/http/schemas.ts";
import { findOrder, findOrders, orderOf } from "../orders/orders.store.ts";
import { OrderPath } from "../orders/orders.ts";
import { otherOrders, readDetails } from "./order-details.store.ts";
import { ManyDetails, OtherOrders, othersMax } from "./order-details.ts";

const tag = "Orders";

/** The details of orders, for the dashboard: an order in the API keeps the specified fields (decision 0121). */
export const orderDetailRoutes: Operation[] = [
  operation({
    operationId: "getOrderDetails",
    method: "GET",
    path: "/orders/details",
    tag,
    summary: "Get the details of orders",
    description: "When each order was placed, what it costs, and the name of its contact.",
    scope: "orders:read",
    query: IdsQuery,
    answers: { 200: { description: "The details, by id.", schema: ManyDetails } },
    read: async (db, { accountId, caller, query: { id } }) => {
      const orders = await readDetails(db, accountId, id);
      const mayReadNames = caller.scopes.has("contacts:read");
      return { status: 200, body: { orders: mayReadNames ? orders : orders.map((order) => ({ ...order, customer: null })) } };
    },
  }),
  operation({
    operationId: "getOtherOrders",
    method: "GET",
    path: "/orders/{orderId}/others",
    tag,
    summary: "Get the other orders of a customer",
    description: "The newest orders whose contact has the email or the telephone number of this order's.",
    scope: "orders:read",
    alsoScope: "contacts:read",
    params: OrderPath,
    answers: { 200: { description: "At most 20 orders, the newest first.", schema: OtherOrders } },
    problems: ["not_found"],
    read: async (db, { accountId, params: { orderId } }) => {
      await findOrder(db, accountId, orderId);
      const ids = await otherOrders(db, accountId, orderId);
      const found = await findOrders(db, accountId, ids.slice(0, othersMax));
      return { status: 200, body: { orders: found.map(orderOf), isMore: ids.length > othersMax } };
    },
  }),
];
