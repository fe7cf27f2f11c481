import sql from "sql-template-tag";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { byId } from "../../platform/ids.ts";
import { Problem } from "../../platform/problem.ts";
import type { Order, OrderFields, OrderQuery } from "./orders.ts";

type OrderRow = {
  id: number;
  pet_id: number | null;
  quantity: number;
  held: number;
  ship_date: number | null;
  complete: boolean | number;
  version: number;
};

/** An order, the units that it holds, and the version that its ETag shows. */
export type StoredOrder = { id: number; fields: OrderFields; held: number; version: number };

const columns = sql`id, pet_id, quantity, held, ship_date, complete, version`;

/** Returns up to `limit` orders that pass the filters, in the order of `sort`; with `afterId` only those after that id. */
export async function listOrders(
  db: Database,
  accountId: number,
  { petId, complete, sort }: OrderQuery,
  afterId: number | undefined,
  limit: number,
): Promise<StoredOrder[]> {
  const equal = { ...(petId !== undefined && { pet_id: petId }), ...(complete !== undefined && { complete }) };
  const parts = [petId !== undefined && "pet", complete !== undefined && "complete"].filter((part) => part !== false);
  const index = parts.length > 0 && { index: `orders_by_${parts.join("_")}` };
  const course = sort === "-id" ? { isBackwards: true, until: afterId } : { after: afterId === undefined ? undefined : [afterId] };
  const walk = { table: "orders", ...index, columns, accountId, equal, order: ["id"], ...course };
  return (await db.query<OrderRow>(walkRows(db.engine, walk, limit))).map(fromRow);
}

/** @throws Problem `not_found` */
export async function findOrder(db: Queryable, accountId: number, id: number): Promise<StoredOrder> {
  return requireRow(await db.query<OrderRow>(sql`SELECT ${columns} FROM orders WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** Locks the order until the transaction ends. @throws Problem `not_found` */
export async function lockOrder(tx: Transaction, accountId: number, id: number): Promise<StoredOrder> {
  const rows = await tx.query<OrderRow>(sql`
    SELECT ${columns} FROM orders WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return requireRow(rows, id);
}

/** Inserts an order whose `held` units have been taken from the stock. */
export async function insertOrder(tx: Transaction, accountId: number, fields: OrderFields, held: number): Promise<StoredOrder> {
  const rows = await tx.query<OrderRow>(sql`
    INSERT INTO orders (account_id, id, pet_id, quantity, held, ship_date, complete, version)
    VALUES (${accountId}, nextval('order_ids'), ${fields.petId}, ${fields.quantity}, ${held}, ${fields.shipDate}, ${fields.complete}, 1)
    RETURNING ${columns}`);
  return fromRow(rows[0]!);
}

/** Updates a locked order; `held` is the number of units that it now holds. @throws Problem `not_found` */
export async function updateOrder(tx: Transaction, accountId: number, id: number, fields: OrderFields, held: number): Promise<StoredOrder> {
  const rows = await tx.query<OrderRow>(sql`
    UPDATE orders SET pet_id = ${fields.petId}, quantity = ${fields.quantity}, held = ${held}, ship_date = ${fields.shipDate},
      complete = ${fields.complete}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  return requireRow(rows, id);
}

/** Deletes a locked order. The caller gives back the units that it held. */
export async function deleteOrder(tx: Transaction, accountId: number, id: number): Promise<void> {
  await tx.query(sql`DELETE FROM orders WHERE account_id = ${accountId} AND id = ${id}`);
}

/** Returns the order as an answer shows it: `petId` and `shipDate` only if set. */
export function orderOf({ id, fields: { petId, quantity, shipDate, complete } }: StoredOrder): Order {
  return { id, ...(petId !== null && { petId }), quantity, ...(shipDate !== null && { shipDate: formatDateTime(shipDate) }), complete };
}

function requireRow(rows: OrderRow[], id: number): StoredOrder {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("order", id)}.`);
  return fromRow(row);
}

function fromRow({ id, pet_id: petId, quantity, held, ship_date: shipDate, complete, version }: OrderRow): StoredOrder {
  return { id, fields: { petId, quantity, shipDate, complete: Boolean(complete) }, held, version };
}
