import { isDeepStrictEqual } from "node:util";
import { raw } from "sql-template-tag";
import { andThen, type Awaitable, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { walkStatement } from "../../platform/db/index-walk.ts";
import { insertion, lockingStatement, statement, statementOfRows, type BoundValue } from "../../platform/db/statement.ts";
import { fieldsBefore, type EventDraft, type Origin } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { byId, Problem, unknownReference } from "../../platform/problem.ts";
import { addRecords, removeRecords } from "../../platform/storage-quotas.ts";
import {
  giveBackUnits,
  insufficient,
  lockItem,
  lockItems,
  requireUntracked,
  sellUnits,
  takeUnits,
  takeUnitsOfPets,
  type PetTakes,
  type Take,
} from "../inventory/inventory.store.ts";
import { lockPet, petExists } from "../pets/pets.store.ts";
import { followOrder } from "../reservations/reservations.store.ts";
import { unitsMoved, type Order, type OrderFields, type OrderQuery } from "./orders.ts";

/*
 * No unit is sold twice (specification 2.5). For each pet whose stock is tracked:
 *
 *   free units = units counted in - units sold by complete orders - units held by open orders
 *
 * None of these numbers is ever negative. All changes of a request are in one transaction, so a refused request changes nothing.
 */

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
const findByIds = statementOfRows<OrderRow>(
  `SELECT ${columnNames} FROM orders WHERE account_id = CAST(?2 AS BIGINT) AND id IN (SELECT CAST(made.value ->> 0 AS BIGINT) FROM ROWS AS made)`,
);
const lockById = lockingStatement<OrderRow>(orderById);
/** The price of one unit, from the pet's profile when the order is placed or gets another pet (specification 2.5). */
const priceColumns = ["price_amount", "price_currency"];
const priceOf = (name: string) => `SELECT ${name} FROM profiles WHERE account_id = ?7 AND pet_id = ?1`;
const update = statement<OrderRow>(`
  UPDATE orders SET pet_id = ?1, quantity = ?2, held = ?3, ship_date = ?4, complete = ?5, completed_at = COALESCE(completed_at, ?6),
    ${priceColumns.map((name) => `${name} = CASE WHEN pet_id = ?1 THEN ${name} ELSE (${priceOf(name)}) END`).join(", ")}, version = version + 1
  WHERE account_id = ?7 AND id = ?8 RETURNING ${columnNames}`);
const newOrders = insertion(
  "orders",
  "order_ids",
  {
    account_id: "BIGINT",
    pet_id: "BIGINT",
    quantity: "BIGINT",
    held: "BIGINT",
    ship_date: "BIGINT",
    complete: "BOOLEAN",
    completed_at: "BIGINT",
    placed_at: "BIGINT",
    version: "BIGINT",
  },
  { from: "profiles", key: ["account_id", "pet_id"], columns: priceColumns },
);
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

/** Returns the orders with these ids, in their order. Leaves out ids without an order. */
export async function findOrders(db: Queryable, accountId: number, ids: readonly number[]): Promise<StoredOrder[]> {
  const rows = await db.rows(findByIds, [JSON.stringify(ids.map((id) => [id])), accountId]);
  const found = new Map(rows.map((row) => [row[0], fromRow(row)]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Locks the order until the transaction ends. @throws Problem `not_found` */
export function lockOrder(tx: Transaction, accountId: number, id: number): Awaitable<StoredOrder> {
  return andThen(tx.rows(lockById, [accountId, id]), (rows) => requireRow(rows, id));
}

/** Returns the order as the API shows it, with `petId` and `shipDate` only if they are set. */
export function orderOf({ id, fields: { petId, quantity, shipDate, complete } }: StoredOrder): Order {
  if (shipDate !== null) return { id, ...(petId !== null && { petId }), quantity, shipDate: formatDateTime(shipDate), complete };
  return petId === null ? { id, quantity, complete } : { id, petId, quantity, complete };
}

/** The fields of a new order, its account, and who places it. */
export type OrderRequest = { accountId: number; fields: OrderFields; origin: Origin };

/**
 * Places orders in one batch: an open order holds its units, a complete order sells them. A batch of several leaves out complete orders, and all
 * orders for a pet that is untracked or has too few free units for them. Returns the orders in the order of the requests, undefined for those that
 * it leaves out.
 *
 * @throws Problem `storage_limit_reached` if an account has no room for all open orders; of a batch of one also `unknown_reference`,
 *   `pet_not_available`, `insufficient_stock`
 */
export async function placeOrders(tx: Transaction, requests: readonly OrderRequest[]): Promise<readonly (StoredOrder | undefined)[]> {
  const [first] = requests as [OrderRequest];
  const held = requests.length === 1 ? new Map([[first, await holdUnits(tx, first)]]) : await holdTogether(tx, requests);
  const placed = requests.filter((request) => held.has(request));
  if (placed.length === 0) return requests.map(() => undefined);
  const ids = await tx.insert(
    newOrders,
    placed.map((request) => valuesOf(request, held.get(request)!)),
  );
  const open = createTally<number>();
  let next = 0;
  const orders = requests.map((request) => {
    const units = held.get(request);
    if (units === undefined) return undefined;
    const { accountId, fields, origin } = request;
    const order = { id: ids[next++]!, fields, held: units, version: 1 };
    tx.record(eventOf(accountId, "order.created", order), origin);
    if (!fields.complete) open.add(accountId);
    return order;
  });
  for (const [accountId, count] of open.counts) await addRecords(tx, accountId, count);
  return orders;
}

/** Takes the units of an order that is placed alone, and sells them if it is complete. Returns how many it holds. */
async function holdUnits(tx: Transaction, { accountId, fields: { petId, quantity, complete }, origin }: OrderRequest): Promise<number> {
  const held = petId === null ? 0 : await reserveUnits(tx, accountId, petId, { units: quantity, origin });
  return complete ? sell(tx, accountId, petId, held) : held;
}

/** Compares by account and pet, the order in which `lockItems` locks inventory entries. */
function byLockOrder(a: OrderRequest, b: OrderRequest): number {
  return a.accountId - b.accountId || a.fields.petId! - b.fields.petId!;
}

/** Takes the units of open orders, for each pet at once. Returns how many each order holds; lacks the orders that the batch leaves out. */
async function holdTogether(tx: Transaction, requests: readonly OrderRequest[]): Promise<Map<OrderRequest, number>> {
  const held = new Map<OrderRequest, number>();
  const open = requests.filter(({ fields }) => !fields.complete);
  for (const request of open) if (request.fields.petId === null) held.set(request, 0);
  const byPet: (PetTakes & { orders: OrderRequest[] })[] = [];
  for (const order of open.filter(({ fields }) => fields.petId !== null).toSorted(byLockOrder)) {
    const { accountId, fields, origin } = order;
    const petId = fields.petId!;
    const last = byPet.at(-1);
    const take = { units: fields.quantity, origin };
    if (last?.petId === petId && last.accountId === accountId) {
      last.takes.push(take);
      last.orders.push(order);
    } else {
      byPet.push({ accountId, petId, takes: [take], orders: [order] });
    }
  }
  for (const { orders } of await takeUnitsOfPets(tx, byPet)) for (const order of orders) held.set(order, order.fields.quantity);
  return held;
}

/**
 * Updates a locked order. Does nothing if no field changes.
 *
 * @param now when the request was made (ms since the Unix epoch)
 * @throws Problem `unknown_reference`, `order_complete`, `pet_not_available`, `insufficient_stock`
 */
export async function changeOrder(
  tx: Transaction,
  accountId: number,
  order: StoredOrder,
  next: OrderFields,
  now: number,
): Promise<StoredOrder> {
  const { id, fields: current } = order;
  if (isDeepStrictEqual(next, current)) return order;
  const petChanges = next.petId !== current.petId;
  if (petChanges && next.petId !== null) await requirePetExists(tx, accountId, next.petId);
  const stockChanges = petChanges || next.quantity !== current.quantity;
  if (current.complete && (stockChanges || !next.complete)) throw orderComplete(id, "only its ship date may change");

  let { held } = order;
  if (stockChanges) held = await move(tx, accountId, order, next);
  if (next.complete) held = await sell(tx, accountId, next.petId, held);
  const isCompleted = next.complete && !current.complete;
  const changed = await updateOrder(tx, accountId, order, { fields: next, held, completedAt: isCompleted ? now : null });
  if (isCompleted) await removeRecords(tx, accountId, 1); // Complete orders do not count as records.
  await followOrder(tx, accountId, { id, petId: next.petId }, isCompleted ? "completed" : "changed", now);
  return changed;
}

/** Cancels a locked order at `now`, and gives back its units. @throws Problem `order_complete` */
export async function cancelOrder(tx: Transaction, accountId: number, order: StoredOrder, now: number): Promise<void> {
  const { id, fields, held } = order;
  if (fields.complete) throw orderComplete(id, "it cannot be cancelled");
  if (fields.petId !== null && held > 0) await giveBackUnits(tx, accountId, fields.petId, held);
  await followOrder(tx, accountId, { id, petId: fields.petId }, "deleted", now);
  await deleteOrder(tx, accountId, order);
  await removeRecords(tx, accountId, 1);
}

/** Moves units between the stock and an open order. Returns how many units the order holds afterwards. */
async function move(tx: Transaction, accountId: number, { fields: current, held }: StoredOrder, next: OrderFields): Promise<number> {
  const { give, take } = unitsMoved(held, current, next);
  if (current.petId !== null && next.petId !== null && current.petId !== next.petId) {
    await lockItems(tx, accountId, [current.petId, next.petId]);
  }
  if (current.petId !== null && give > 0) await giveBackUnits(tx, accountId, current.petId, give);
  if (next.petId === null) return 0;
  if (take === 0) await requireNotSold(tx, accountId, next.petId);
  return held - give + (take > 0 ? await reserveUnits(tx, accountId, next.petId, { units: take }) : 0);
}

/** Takes units of a pet for an order to hold. Returns how many: 0 if the pet is untracked. */
async function reserveUnits(tx: Transaction, accountId: number, petId: number, take: Take): Promise<number> {
  return (await takeUnits(tx, accountId, petId, take)) ? take.units : reserveWithLocks(tx, accountId, petId, take);
}

/** Locks the entry and the pet to find out why `takeUnits` took nothing. Returns 0 if the pet is untracked; otherwise retries or refuses. */
async function reserveWithLocks(tx: Transaction, accountId: number, petId: number, take: Take): Promise<number> {
  const entry = await lockItem(tx, accountId, petId);
  await requireNotSold(tx, accountId, petId);
  if (!entry) {
    await requireUntracked(tx, accountId, petId);
    return 0;
  }
  // Retry once: units may have become free after the first attempt.
  if (entry.item.quantity < take.units || !(await takeUnits(tx, accountId, petId, take))) throw insufficient(petId, entry.item.quantity);
  return take.units;
}

/** Sells the units that an order holds. Returns how many units the order holds afterwards: none. */
async function sell(tx: Transaction, accountId: number, petId: number | null, held: number): Promise<0> {
  if (petId !== null && held > 0) await sellUnits(tx, accountId, petId, held);
  return 0;
}

/** Reads without a lock: locking the pet before its entry would break the lock order. */
async function requirePetExists(tx: Transaction, accountId: number, petId: number): Promise<void> {
  if (!(await petExists(tx, accountId, petId))) throw unknownPet(petId);
}

async function requireNotSold(tx: Transaction, accountId: number, petId: number): Promise<void> {
  const stored = await lockPet(tx, accountId, petId);
  if (!stored) throw unknownPet(petId);
  if (stored.pet.status === "sold") throw new Problem("pet_not_available", `Pet ${petId} is sold.`);
}

function unknownPet(petId: number): Problem {
  return unknownReference("body.petId", byId("pet", petId));
}

function orderComplete(id: number, why: string): Problem {
  return new Problem("order_complete", `Order ${id} is complete: ${why}.`);
}

/** The values of a new order, in the order of the columns of `newOrders`. */
function valuesOf({ accountId, fields: { petId, quantity, shipDate, complete }, origin }: OrderRequest, held: number): BoundValue[] {
  const at = origin.at ?? null;
  return [accountId, petId, quantity, held, shipDate, Number(complete), complete ? at : null, at, 1];
}

/** What an order becomes: its fields, the units that it holds from now on, and the time if this completes it. */
type OrderChange = { fields: OrderFields; held: number; completedAt: number | null };

/** Updates a locked order. @throws Problem `not_found` */
function updateOrder(
  tx: Transaction,
  accountId: number,
  current: StoredOrder,
  { fields, held, completedAt }: OrderChange,
): Awaitable<StoredOrder> {
  const { id } = current;
  const { petId, quantity, shipDate, complete } = fields;
  const values = [petId, quantity, held, shipDate, Number(complete), completedAt, accountId, id];
  return andThen(tx.rows(update, values), (rows) => {
    const updated = requireRow(rows, id);
    const type = completedAt === null ? "order.updated" : "order.completed";
    tx.record({ ...eventOf(accountId, type, updated), previous: fieldsBefore(orderOf(current), orderOf(updated)) });
    return updated;
  });
}

/** Deletes a locked order. `cancelOrder` has given back its units. */
async function deleteOrder(tx: Transaction, accountId: number, order: StoredOrder): Promise<void> {
  await tx.run(deleteById, [accountId, order.id]);
  tx.record(eventOf(accountId, "order.cancelled", order));
}

function eventOf(accountId: number, type: EventDraft["type"], order: StoredOrder): EventDraft {
  const { id, petId, quantity, shipDate, complete } = orderOf(order);
  const data = { complete, id, petId, quantity, shipDate }; // in the order of canonical JSON, which is faster
  return { accountId, type, resource: { type: "order", id: order.id }, data, version: order.version };
}

function requireRow(rows: OrderRow[], id: number): StoredOrder {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("order", id)}.`);
  return fromRow(row);
}

function fromRow([id, petId, quantity, held, shipDate, complete, version]: OrderRow): StoredOrder {
  return { id, fields: { petId, quantity, shipDate, complete: Boolean(complete) }, held, version };
}
