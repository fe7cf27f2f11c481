import { raw } from "sql-template-tag";
import { andThen, type Awaitable, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { insertion, lockingStatement, statement } from "../../platform/db/statement.ts";
import { walkStatement } from "../../platform/db/walk-statements.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { fieldsBefore, type EventDraft, type Origin } from "../../platform/events.ts";
import { byId, Problem } from "../../platform/problem.ts";
import type { Order, OrderFields, OrderQuery } from "./orders.ts";

type OrderRow = [
  id: number,
  petId: number | null,
  quantity: number,
  held: number,
  shipDate: number | null,
  complete: boolean | number,
  version: number,
];

/** An order, the units that it holds, and the version that its ETag shows. */
export type StoredOrder = { id: number; fields: OrderFields; held: number; version: number };

/** The columns of an order, in the order of `OrderRow`. */
const columnNames = "id, pet_id, quantity, held, ship_date, complete, version";
const columns = raw(columnNames);
const orderById = `SELECT ${columnNames} FROM orders WHERE account_id = ? AND id = ?`;
const findById = statement<OrderRow>(orderById);
const lockById = lockingStatement<OrderRow>(orderById);
const update = statement<OrderRow>(`
  UPDATE orders SET pet_id = ?, quantity = ?, held = ?, ship_date = ?, complete = ?, version = version + 1
  WHERE account_id = ? AND id = ? RETURNING ${columnNames}`);
const newOrders = insertion("orders", "order_ids", {
  account_id: "BIGINT",
  pet_id: "BIGINT",
  quantity: "BIGINT",
  held: "BIGINT",
  ship_date: "BIGINT",
  complete: "BOOLEAN",
  version: "BIGINT",
});
const deleteById = statement("DELETE FROM orders WHERE account_id = ? AND id = ?");

/** Returns up to `limit` orders that pass the filters, sorted by `sort`; with `afterId`, only those that come after it. */
export function listOrders(
  db: Database,
  accountId: number,
  { petId, complete, sort }: OrderQuery,
  afterId: number | undefined,
  limit: number,
): Awaitable<StoredOrder[]> {
  const direction = sort === "-id" ? { isBackwards: true, until: afterId } : { after: afterId === undefined ? undefined : [afterId] };
  const walk = { table: "orders", columns, accountId, order: ["id"], ...direction };
  const walks = filtersOf(petId, complete).map((filter) => ({ ...walk, ...filter }));
  const { statement: text, values } = walkStatement<OrderRow>(db.engine, walks, limit);
  return andThen(db.rows(text, values), (rows) => rows.map(fromRow));
}

/**
 * Returns one filter for each index walk that a list merges. A list of all orders for a pet merges two walks, one of the open and one of the
 * complete orders: another index, by pet alone, would make each new order write one more page (decision 0081).
 */
function filtersOf(petId: number | undefined, complete: boolean | undefined) {
  if (petId === undefined) return [complete === undefined ? {} : { index: "orders_by_complete", equal: { complete } }];
  const values = complete === undefined ? [false, true] : [complete];
  return values.map((value) => ({ index: "orders_by_pet_complete", equal: { pet_id: petId, complete: value } }));
}

/** @throws Problem `not_found` */
export function findOrder(db: Queryable, accountId: number, id: number): Awaitable<StoredOrder> {
  return andThen(db.rows(findById, [accountId, id]), (rows) => requireRow(rows, id));
}

/** Locks the order until the transaction ends. @throws Problem `not_found` */
export function lockOrder(tx: Transaction, accountId: number, id: number): Awaitable<StoredOrder> {
  return andThen(tx.rows(lockById, [accountId, id]), (rows) => requireRow(rows, id));
}

/** An order to insert. The caller has already taken its `held` units from the stock. */
export type PlacedOrder = { accountId: number; fields: OrderFields; held: number; origin: Origin };

/** Inserts orders, which get ascending identifiers. */
export function insertOrders(tx: Transaction, placed: readonly PlacedOrder[]): Awaitable<StoredOrder[]> {
  const rows = placed.map(({ accountId, fields: { petId, quantity, shipDate, complete }, held }) => [
    accountId,
    petId,
    quantity,
    held,
    shipDate,
    Number(complete),
    1,
  ]);
  return andThen(tx.insert(newOrders, rows), (ids) =>
    placed.map(({ accountId, fields, held, origin }, i) => {
      const order = { id: ids[i]!, fields, held, version: 1 };
      tx.record(eventOf(accountId, "order.created", order), origin);
      return order;
    }),
  );
}

/** Updates a locked order; `held` is the number of units that it holds from now on. @throws Problem `not_found` */
export function updateOrder(
  tx: Transaction,
  accountId: number,
  current: StoredOrder,
  fields: OrderFields,
  held: number,
): Awaitable<StoredOrder> {
  const { id } = current;
  const { petId, quantity, shipDate, complete } = fields;
  const values = [petId, quantity, held, shipDate, Number(complete), accountId, id];
  return andThen(tx.rows(update, values), (rows) => {
    const updated = requireRow(rows, id);
    const type = complete && !current.fields.complete ? "order.completed" : "order.updated";
    tx.record({ ...eventOf(accountId, type, updated), previous: fieldsBefore(orderOf(current), orderOf(updated)) });
    return updated;
  });
}

/** Deletes a locked order, but does not give back its units: the caller does. */
export async function deleteOrder(tx: Transaction, accountId: number, order: StoredOrder): Promise<void> {
  await tx.run(deleteById, [accountId, order.id]);
  tx.record(eventOf(accountId, "order.cancelled", order));
}

function eventOf(accountId: number, type: EventDraft["type"], order: StoredOrder): EventDraft {
  return { accountId, type, resource: { type: "order", id: order.id }, data: orderOf(order), version: order.version };
}

/** Returns the order as the API shows it, with `petId` and `shipDate` only if they are set. */
export function orderOf({ id, fields: { petId, quantity, shipDate, complete } }: StoredOrder): Order {
  if (shipDate !== null) return { id, ...(petId !== null && { petId }), quantity, shipDate: formatDateTime(shipDate), complete };
  return petId === null ? { id, quantity, complete } : { id, petId, quantity, complete };
}

function requireRow(rows: OrderRow[], id: number): StoredOrder {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("order", id)}.`);
  return fromRow(row);
}

function fromRow([id, petId, quantity, held, shipDate, complete, version]: OrderRow): StoredOrder {
  return { id, fields: { petId, quantity, shipDate, complete: Boolean(complete) }, held, version };
}
