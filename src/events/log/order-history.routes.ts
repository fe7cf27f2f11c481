import sql, { join, raw } from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import { walkStatement } from "../../platform/db/index-walk.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { Id } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { byId, Problem } from "../../platform/problem.ts";
import type { EventServices } from "./events.routes.ts";
import { eventColumns, eventOfRow, type EventRow, logStart, newestEvent, type StoredEvent } from "./events.store.ts";
import { NamedEvent, withNames } from "./named-events.ts";

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
      await untilNumbered(db, accountId, [`order/${orderId}`], services);
      const { events, isWhole } = await orderHistory(db, accountId, orderId);
      if (events.length === 0) await requireOrder(db, accountId, orderId);
      return { status: 200, body: { events: await withNames(db, accountId, events), isWhole } };
    },
  }),
];

/** Waits until all events of these resources have positions, so that members see the change that they just made. */
export async function untilNumbered(
  db: Database,
  accountId: number,
  resources: readonly string[],
  { listeners }: Pick<EventServices, "listeners">,
): Promise<void> {
  const end = performance.now() + waitMs;
  while (await db.scan(() => isWaiting(db, accountId, resources))) {
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

/** The most changes that the history of an order shows, in addition to its placing. */
const changesMax = 100;
/** How far, in `order.created` events, a placing may be from where the order of ids puts it. */
const disorderMax = 2_000;
/** The condition of `events_of_order_changes`. */
const isChange = "(type = 'order.updated' OR type = 'order.completed' OR type = 'order.cancelled')";

/** The events of an order, oldest first. `isWhole` is false if the log lacks some of them, or if there are too many to show. */
type History = { events: StoredEvent[]; isWhole: boolean };

/** Returns the placing of an order and its newest changes. */
async function orderHistory(db: Database, accountId: number, orderId: number): Promise<History> {
  const resource = `order/${orderId}`;
  const newest = await changesOf(db, accountId, resource);
  const changes = newest.slice(0, changesMax).toReversed();
  const placing = await placingOf(db, accountId, orderId);
  const isWhole = placing !== undefined && newest.length <= changesMax;
  return { events: [...(placing ? [placing] : []), ...changes], isWhole };
}

/** Whether an event of these resources has no position yet. */
async function isWaiting(db: Database, accountId: number, resources: readonly string[]): Promise<boolean> {
  if (db.engine === "sqlite") return false;
  const rows = await db.query(
    sql`SELECT 1 FROM event_outbox WHERE account_id = ${accountId} AND resource IN (${join([...resources])}) LIMIT 1`,
  );
  return rows.length > 0;
}

/** @throws Problem `not_found` if there is no such order now */
async function requireOrder(db: Database, accountId: number, orderId: number): Promise<void> {
  const rows = await db.query(sql`SELECT 1 FROM orders WHERE account_id = ${accountId} AND id = ${orderId}`);
  if (rows.length === 0) throw new Problem("not_found", `There is no ${byId("order", orderId)}.`);
}

async function changesOf(db: Database, accountId: number, resource: string): Promise<StoredEvent[]> {
  const walk = { table: "events", index: "events_of_order_changes", condition: isChange, columns: eventColumns, accountId };
  const { statement, values } = walkStatement<EventRow>(
    db.engine,
    [{ ...walk, equal: { resource }, order: ["position"], isBackwards: true }],
    changesMax + 1,
  );
  return (await db.rows(statement, values)).map((row) => eventOfRow(db, row));
}

/**
 * Finds the event of an order's placing by binary search, because order ids ascend with positions. Orders that were placed on
 * PostgreSQL at the same time may be out of order, so the search then looks at the neighbours.
 */
async function placingOf(db: Database, accountId: number, orderId: number): Promise<StoredEvent | undefined> {
  let low = (await logStart(db, accountId)).position;
  let high = (await newestEvent(db, accountId)).position + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [placing] = await placings(db, accountId, { from: middle }, 1);
    if (!placing || placing.orderId >= orderId) high = middle;
    else low = placing.position + 1;
  }
  const isOwn = (placing: OrderPlacement) => placing.orderId === orderId;
  const found =
    (await placings(db, accountId, { from: low }, 1)).find(isOwn) ??
    (await placings(db, accountId, { from: low }, disorderMax)).find(isOwn) ??
    (await placings(db, accountId, { until: low }, disorderMax)).find(isOwn);
  if (!found) return undefined;
  const walk = { table: "events", columns: eventColumns, accountId, equal: { position: found.position }, order: [] };
  const { statement, values } = walkStatement<EventRow>(db.engine, [walk], 1);
  return (await db.rows(statement, values)).map((row) => eventOfRow(db, row))[0];
}

type OrderPlacement = { position: number; orderId: number };
const placingColumns = raw("position, resource");

/** Reads placings: forwards from a position, or backwards from the one before it. */
async function placings(
  db: Database,
  accountId: number,
  bounds: { from: number } | { until: number },
  limit: number,
): Promise<OrderPlacement[]> {
  const walk = { table: "events", index: "events_by_type", columns: placingColumns, accountId, equal: { type: "order.created" } };
  const course = { order: ["position"], ...bounds, isBackwards: "until" in bounds };
  const { statement, values } = walkStatement<[number, string]>(db.engine, [{ ...walk, ...course }], limit);
  const rows = await db.rows(statement, values);
  return rows.map(([position, resource]) => ({ position, orderId: Number(resource.slice("order/".length)) }));
}
