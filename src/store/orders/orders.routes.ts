import { andThen } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions } from "../../platform/http/conditions.ts";
import { parseDateTime } from "../../platform/http/dates.ts";
import { type Answer, created, deleted, listed, mergePatch, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { cancelOrder, changeOrder, findOrder, listOrders, lockOrder, orderOf, placeOrders, type StoredOrder } from "./orders.store.ts";
import {
  Order,
  type OrderFields,
  OrderInput,
  OrderPath,
  OrderQuery,
  Orders,
  patchOrder,
  WrittenOrder,
  WrittenOrderPatch,
} from "./orders.ts";

const path = "/store/orders";
const onePath = "/store/orders/{orderId}";
const tag = "Orders";
const params = { orderId: 1 };
const openOrder: Order = { id: 1, petId: 1, quantity: 1, shipDate: "2026-12-24T10:00:00Z", complete: false };

export const orderRoutes: Operation[] = [
  operation({
    operationId: "listOrders",
    method: "GET",
    path,
    tag,
    summary: "List orders",
    description: "The orders that pass all given filters, ordered by `id`; `sort=-id` shows the newest first.",
    scope: "orders:read",
    hideTryItPanel: true,
    query: OrderQuery,
    example: { query: { complete: false } },
    answers: { 200: listed("The orders.", Orders, [openOrder]) },
    read: (db, { accountId, query }) => {
      const sortedQuery = { ...query, sort: query.sort ?? "id" }; // A cursor stays valid whether or not the next request names the default `sort`.
      const after = positionOf(sortedQuery, 1);
      const rows = listOrders(db, accountId, sortedQuery, after && Number(after[0]), (query.limit ?? limitDefault) + 1);
      return andThen(rows, (found) => {
        const page = pageOf(path, sortedQuery, found, (row) => [row.id]);
        return { status: 200, body: page.rows.map(orderOf), headers: page.headers };
      });
    },
  }),
  operation({
    operationId: "createOrder",
    method: "POST",
    path,
    tag,
    summary: "Place an order",
    description:
      "Places an order. If the pet's stock is tracked, an open order holds its units and a complete order sells them. An order for more units than are free is refused, so no unit is sold twice. An order without `petId` is a draft.",
    details: "An `id` in the body is ignored.",
    scope: "orders:write",
    dryRun: true,
    body: OrderInput,
    example: { body: { petId: 1, quantity: 2, shipDate: "2026-12-24T10:00:00Z" } },
    answers: {
      201: created("The order as it was placed.", Order, {
        id: 2,
        petId: 1,
        quantity: 2,
        shipDate: "2026-12-24T10:00:00Z",
        complete: false,
      }),
    },
    problems: ["unknown_reference", "pet_not_available", "insufficient_stock", "storage_limit_reached"],
    batch: async (tx, calls) => {
      const placed = await placeOrders(
        tx,
        calls.map(({ accountId, body, origin }) => ({ accountId, fields: fieldsOf(body), origin })),
      );
      return placed.map((order) => order && placedAnswer(order));
    },
  }),
  operation({
    operationId: "getOrder",
    method: "GET",
    path: onePath,
    tag,
    summary: "Get an order",
    description: "One order by its identifier.",
    scope: "orders:read",
    params: OrderPath,
    example: { params },
    answers: { 200: resource("The order.", Order, openOrder) },
    problems: ["not_found"],
    read: (db, { accountId, params: { orderId } }) => andThen(findOrder(db, accountId, orderId), answer),
  }),
  operation({
    operationId: "replaceOrder",
    method: "PUT",
    path: onePath,
    tag,
    summary: "Replace an order",
    description:
      "Replaces the order; a field that is left out gets its default. When the pet or the quantity changes, the order takes or gives back units. `complete: true` sells the units and is final: afterwards only the ship date may change.",
    scope: "orders:write",
    dryRun: true,
    params: OrderPath,
    body: WrittenOrder,
    example: { params, body: { petId: 1, quantity: 3, shipDate: "2026-12-27T10:00:00Z" } },
    answers: { 200: resource("The order as it now stands.", Order, { ...openOrder, quantity: 3, shipDate: "2026-12-27T10:00:00Z" }) },
    problems: ["not_found", "precondition_failed", "unknown_reference", "pet_not_available", "insufficient_stock", "order_complete"],
    write: async (tx, { accountId, params: { orderId }, body, conditions, now }) => {
      const order = await lockOrder(tx, accountId, orderId);
      requireConditions(conditions, order.version);
      return answer(await changeOrder(tx, accountId, order, fieldsOf(body), now));
    },
  }),
  operation({
    operationId: "updateOrder",
    method: "PATCH",
    path: onePath,
    tag,
    summary: "Update an order",
    description: "Changes the given fields of an order; `petId: null` turns it into a draft and gives its units back.",
    scope: "orders:write",
    dryRun: true,
    params: OrderPath,
    body: WrittenOrderPatch,
    mediaTypes: mergePatch,
    example: { params, body: { complete: true } },
    answers: { 200: resource("The order as it now stands.", Order, { ...openOrder, complete: true }) },
    problems: ["not_found", "precondition_failed", "unknown_reference", "pet_not_available", "insufficient_stock", "order_complete"],
    write: async (tx, { accountId, params: { orderId }, body, conditions, now }) => {
      const order = await lockOrder(tx, accountId, orderId);
      requireConditions(conditions, order.version);
      return answer(await changeOrder(tx, accountId, order, fieldsOf(patchOrder(orderOf(order), body)), now));
    },
  }),
  operation({
    operationId: "deleteOrder",
    method: "DELETE",
    path: onePath,
    tag,
    summary: "Cancel an order",
    description: "Deletes an unfulfilled order and gives back the units that it holds.",
    scope: "orders:write",
    dryRun: true,
    params: OrderPath,
    example: { params },
    answers: { 204: deleted("The order is gone.") },
    problems: ["not_found", "precondition_failed", "order_complete"],
    write: async (tx, { accountId, params: { orderId }, conditions, now }) => {
      const order = await lockOrder(tx, accountId, orderId);
      requireConditions(conditions, order.version);
      await cancelOrder(tx, accountId, order, now);
      return { status: 204 };
    },
  }),
];

function placedAnswer(order: StoredOrder): Answer {
  return { ...answer(order), status: 201, headers: { location: addressOf(`${path}/${order.id}`) } };
}

function answer(order: StoredOrder) {
  return { status: 200, body: orderOf(order), version: order.version };
}

function fieldsOf({ petId, quantity = 1, shipDate, complete = false }: Order): OrderFields {
  return { petId: petId ?? null, quantity, shipDate: shipDate === undefined ? null : (parseDateTime(shipDate) ?? null), complete };
}
