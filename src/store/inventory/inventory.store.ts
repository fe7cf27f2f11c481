import sql, { join, raw } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import { andThen, type Awaitable, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { findRows, walkStatement } from "../../platform/db/index-walk.ts";
import { lockingStatement, rowUpdate, statement, statementOfRows } from "../../platform/db/statement.ts";
import { fieldsBefore, type EventDraft, type Origin } from "../../platform/events.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { int32Max } from "../../platform/http/schemas.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import { deriveStatus, lockPets, type StoredPet } from "../pets/pets.store.ts";
import { petStatuses, type PetStatus } from "../pets/pets.ts";
import { statusOfStock, type InventoryItem, type InventoryQuery } from "./inventory.ts";

/*
 * Each change of a pet's stock is one conditional statement, which locks the pet's entry.
 *
 * Transactions that lock several rows cannot deadlock, because all of them lock in the same order: orders by id, then entries by pet, then pets.
 * If a transaction finds too late that it needs a lock from earlier in that order, it starts over instead of waiting for the lock.
 *
 * Most changes leave the status as it is, so the statement that changes the counts does not write the status, which has indexes. If the status
 * does change, further statements write it to the entry and to the pet.
 */

type ItemRow = [petId: number, quantity: number, held: number, status: PetStatus, version: number];

type EntryRow = { pet_id: number; quantity: number; held: number; status: PetStatus; version: number };

/** An entry with the version that its ETag shows. */
export type StoredItem = { item: InventoryItem; held: number; version: number };

/** The columns of an entry, in the order of `ItemRow`. */
const columnNames = "pet_id, quantity, held, status, version";
const columns = raw(columnNames);

const itemByPet = `SELECT ${columnNames} FROM inventory WHERE account_id = ? AND pet_id = ?`;
const findByPet = statement<ItemRow>(itemByPet);
const lockByPet = lockingStatement<ItemRow>(itemByPet);
const writeStatus = statement("UPDATE inventory SET status = ? WHERE account_id = ? AND pet_id = ?");
type ChangedRow = [...ItemRow, lowStock: number, accountId: number];
/** The columns of a changed entry, in the order of `ChangedRow`. */
const changedColumns = `${columnNames}, (SELECT low_stock FROM accounts WHERE id = inventory.account_id), account_id`;
const addToCounts = "quantity = quantity + ?1, held = held + ?2, version = version + ?3";
const ifCountsFit = `account_id = ?4 AND pet_id = ?5 AND quantity + ?1 >= 0 AND held + ?2 >= 0 AND quantity + ?1 + held + ?2 <= ${int32Max}`;
const changeCounts = rowUpdate<ChangedRow>("inventory", addToCounts, ifCountsFit, changedColumns);
/** Does the same where free units are added, and raises `highest` if there are now more of them than before (decision 0130). */
const raised = `${addToCounts}, highest = CASE WHEN highest < quantity + ?1 THEN quantity + ?1 ELSE highest END`;
const raiseCounts = rowUpdate<ChangedRow>("inventory", raised, ifCountsFit, changedColumns);
/** SQL of `highest` after a count is set to `quantity`: the largest of `highest`, the count before and the new one. */
const highestWith = (
  quantity: string,
): string => `CASE WHEN inventory.highest >= inventory.quantity AND inventory.highest >= ${quantity} THEN inventory.highest
    WHEN inventory.quantity > ${quantity} THEN inventory.quantity ELSE ${quantity} END`;
const setCount = statement<ChangedRow>(`
  INSERT INTO inventory (account_id, pet_id, quantity, held, status, version, highest)
  VALUES (?1, ?2, ?3, 0, ?4, 1, ?3)
  ON CONFLICT (account_id, pet_id) DO UPDATE SET quantity = excluded.quantity, version = inventory.version + 1,
    highest = ${highestWith("excluded.quantity")}
    WHERE excluded.quantity + inventory.held <= ${int32Max}
  RETURNING ${changedColumns}`);

/** Returns up to `limit` entries that pass the filters and have a pet id above `afterPetId`, sorted by pet id. */
export function listItems(
  db: Database,
  accountId: number,
  { status, petId }: InventoryQuery,
  afterPetId: number,
  limit: number,
): Awaitable<StoredItem[]> {
  if (petId) return findItems(db, accountId, petId, status, afterPetId, limit);
  const walk = { table: "inventory", columns, accountId, order: ["pet_id"], after: [afterPetId] };
  const statuses = [...new Set(status)];
  const isFiltered = statuses.length > 0 && statuses.length < petStatuses.length;
  const walks = isFiltered ? statuses.map((value) => ({ ...walk, index: "inventory_by_status", equal: { status: value } })) : [walk];
  const { statement: text, values } = walkStatement<ItemRow>(db.engine, walks, limit);
  return andThen(db.rows(text, values), (rows) => rows.map(fromRow));
}

/** Does the same for the entries of up to 100 pets. */
async function findItems(
  db: Database,
  accountId: number,
  petIds: number[],
  status: PetStatus[] | undefined,
  afterPetId: number,
  limit: number,
): Promise<StoredItem[]> {
  const found = findRows(db.engine, { table: "inventory", columns, accountId, key: "pet_id" }, petIds);
  const withStatus = status ? sql`AND status IN (${join(status)})` : sql``;
  const rows = await db.query<EntryRow>(sql`
    SELECT * FROM (${found}) AS wanted WHERE pet_id > ${afterPetId} ${withStatus} ORDER BY pet_id ${limitTo(limit)}`);
  return rows.map(({ pet_id: id, quantity, held, status: shown, version }) => fromRow([id, quantity, held, shown, version]));
}

/** @throws Problem `not_found` */
export function findItem(db: Queryable, accountId: number, petId: number): Awaitable<StoredItem> {
  return andThen(db.rows(findByPet, [accountId, petId]), ([row]) => fromRow(row ?? absent(petId)));
}

/** Locks the entry until the transaction ends. Returns undefined if the pet is untracked. */
export function lockItem(tx: Transaction, accountId: number, petId: number): Awaitable<StoredItem | undefined> {
  return andThen(tx.rows(lockByPet, [accountId, petId]), ([row]) => row && fromRow(row));
}

/**
 * Checks that a locked pet still has no entry; none can be added until the transaction ends. If one was added before the pet was locked, starts
 * the transaction over, because an entry must be locked before its pet.
 */
export async function requireUntracked(tx: Transaction, accountId: number, petId: number): Promise<void> {
  const entries = await tx.query(sql`SELECT 1 FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  if (entries.length > 0) tx.startOver();
}

/** Locks the entries of several pets, in the common order. */
export async function lockItems(tx: Transaction, accountId: number, petIds: number[]): Promise<void> {
  await tx.query(sql`
    SELECT pet_id FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${join(petIds)}) ORDER BY pet_id${tx.forUpdate}`);
}

/**
 * Sets a pet's number of free units. If the pet has no entry, adds one, which begins tracking.
 *
 * @param current the locked entry; undefined if the pet, which is then locked, has none
 */
export async function setQuantity(
  tx: Transaction,
  accountId: number,
  petId: number,
  quantity: number,
  current: StoredItem | undefined,
): Promise<StoredItem> {
  const status = statusOfStock({ quantity, held: 0 });
  const rows = await tx.rows(setCount, [accountId, petId, quantity, status]);
  const row = rows[0] ?? tooMany();
  const entry = await completeChange(tx, accountId, row, current ? { before: current.item } : { before: {} });
  if (current) return entry;
  await deriveStatus(tx, accountId, petId, entry.item.status); // The pet was untracked, so it may have any status.
  return entry;
}

/** Adds `delta` units; a negative number takes units away. @throws Problem `not_found`, `insufficient_stock` */
export async function adjustQuantity(tx: Transaction, accountId: number, petId: number, delta: number): Promise<StoredItem> {
  if (delta === 0) return (await lockItem(tx, accountId, petId)) ?? absent(petId);
  const entry = await moveStock(tx, accountId, petId, delta, 0);
  if (entry) return entry;
  const { item } = (await lockItem(tx, accountId, petId)) ?? absent(petId);
  // Retry once: the entry may have been added or changed after the first attempt.
  const retried = await moveStock(tx, accountId, petId, delta, 0);
  if (retried) return retried;
  if (delta > 0) return tooMany();
  throw insufficient(petId, item.quantity);
}

/** Locks the open orders that hold units of the pet, then its entry, and returns the entry. @throws Problem `not_found` */
export async function lockItemWithOrders(tx: Transaction, accountId: number, petId: number): Promise<StoredItem> {
  const holding = sql`account_id = ${accountId} AND pet_id = ${petId} AND complete = FALSE AND held > 0`;
  await tx.query(sql`SELECT id FROM orders WHERE ${holding} ORDER BY id${tx.forUpdate}`);
  const item = (await lockItem(tx, accountId, petId)) ?? absent(petId);
  // Orders may have been placed before the entry was locked. Waiting for their locks could deadlock, because orders are locked before entries.
  const [counted] = await tx.query<{ locked: number; holding: number }>(sql`
    WITH locked AS (SELECT id FROM orders WHERE ${holding}${tx.skipLocked("orders")})
    SELECT (SELECT COUNT(*) FROM locked) AS locked, (SELECT COUNT(*) FROM orders WHERE ${holding}) AS holding`);
  if (counted!.locked < counted!.holding) tx.startOver();
  return item;
}

/** Ends tracking: deletes an entry that `lockItemWithOrders` locked. Its open orders then hold no units, and the pet keeps its status. */
export async function deleteItem(tx: Transaction, accountId: number, entry: StoredItem): Promise<void> {
  const { petId } = entry.item;
  await tx.query(sql`DELETE FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  await tx.query(sql`UPDATE orders SET held = 0 WHERE account_id = ${accountId} AND pet_id = ${petId} AND complete = FALSE AND held > 0`);
  tx.record(eventOf(accountId, "inventory.deleted", entry));
}

/** The units that an open order takes, and who places it. Default: the origin of the write. */
export type Take = { units: number; origin?: Origin };

/** Takes free units of a pet for an open order. Returns false, and changes nothing, if the pet is untracked or has too few. */
export function takeUnits(tx: Transaction, accountId: number, petId: number, take: Take): Awaitable<boolean> {
  return andThen(tx.rows(changeCounts.one, [-take.units, take.units, 1, accountId, petId]), ([row]) =>
    row === undefined ? false : andThen(completeChange(tx, accountId, row, { takes: [take] }), () => true),
  );
}

/** What the open orders for one pet take, in order. */
export type PetTakes = { accountId: number; petId: number; takes: Take[] };

/** Takes units of several pets, each named once, in the order in which entries are locked. Returns those of which it has taken the units. */
export async function takeUnitsOfPets<T extends PetTakes>(tx: Transaction, wanted: readonly T[]): Promise<T[]> {
  const values = wanted.map(({ accountId, petId, takes }) => {
    const units = unitsOf(takes);
    return [-units, units, takes.length, accountId, petId];
  });
  const rows = (await tx.updateEach(changeCounts, values)).toSorted((a, b) => a[6] - b[6] || a[0] - b[0]);
  const taken: T[] = [];
  for (const one of wanted) {
    const row = rows[taken.length];
    if (row === undefined || row[0] !== one.petId || row[6] !== one.accountId) continue;
    taken.push(one);
    const completed = completeChange(tx, one.accountId, row, { takes: one.takes });
    if (completed instanceof Promise) await completed;
  }
  return taken;
}

function unitsOf(takes: readonly Take[]): number {
  return takes.reduce((sum, { units }) => sum + units, 0);
}

/** Gives back units that an open order held. */
export async function giveBackUnits(tx: Transaction, accountId: number, petId: number, units: number): Promise<void> {
  if (!(await moveStock(tx, accountId, petId, units, -units))) unitsLost(petId);
}

/** Sells units that an open order held. */
export async function sellUnits(tx: Transaction, accountId: number, petId: number, units: number): Promise<void> {
  if (!(await moveStock(tx, accountId, petId, 0, -units))) unitsLost(petId);
}

/** Returns the Problem for a request that takes more units than are free. */
export function insufficient(petId: number, free: number): Problem {
  return new Problem("insufficient_stock", `Pet ${petId} has ${free} free ${free === 1 ? "unit" : "units"}, which is too few.`);
}

/** Adds to the counts of an entry. Returns undefined, and changes nothing, if there is no entry or a count would be out of range. */
function moveStock(tx: Transaction, accountId: number, petId: number, free: number, held: number): Awaitable<StoredItem | undefined> {
  return andThen(
    tx.rows((free > 0 ? raiseCounts : changeCounts).one, [free, held, 1, accountId, petId]),
    ([row]) => row && completeChange(tx, accountId, row, { before: { petId, quantity: row[1] - free, status: row[3] } }),
  );
}

/** What changed an entry's counts: `before` is the entry before one change, `{}` if it is new; `takes` are the orders that took units, in order. */
type StockChange = { before: Partial<InventoryItem>; takes?: undefined } | { before?: undefined; takes: readonly Take[] };

/** Completes a change of counts: records its events and, if another status follows from the counts, writes that status. */
function completeChange(tx: Transaction, accountId: number, row: ChangedRow, { before, takes }: StockChange): Awaitable<StoredItem> {
  const [petId, quantity, held, statusBefore, version, lowStock] = row;
  const status = statusOfStock({ quantity, held });
  const after = fromRow([petId, quantity, held, status, version]);
  if (takes) recordTakes(tx, accountId, after, takes, statusBefore, lowStock);
  else recordCount(tx, accountId, before, after, lowStock);
  return status === statusBefore ? after : writeStatuses(tx, accountId, after, takes?.at(-1)?.origin);
}

async function writeStatuses(tx: Transaction, accountId: number, entry: StoredItem, origin: Origin | undefined): Promise<StoredItem> {
  const { petId, status } = entry.item;
  await tx.run(writeStatus, [status, accountId, petId]);
  await deriveStatus(tx, accountId, petId, status, origin);
  return entry;
}

/** Records the events of each order, as if each had changed the entry in a statement of its own. */
function recordTakes(
  tx: Transaction,
  accountId: number,
  after: StoredItem,
  takes: readonly Take[],
  statusBefore: PetStatus,
  lowStock: number,
): void {
  const { petId } = after.item;
  let taken = unitsOf(takes);
  let before: InventoryItem = { petId, quantity: after.item.quantity + taken, status: statusBefore };
  let version = after.version - takes.length;
  for (const { units, origin } of takes) {
    taken -= units;
    version += 1;
    const [quantity, held] = [after.item.quantity + taken, after.held - taken];
    const item = { petId, quantity, status: statusOfStock({ quantity, held }) };
    recordCount(tx, accountId, before, { item, held, version }, lowStock, origin);
    before = item;
  }
}

/** Records the events of a changed count. @param before the entry before the change; `{}` if it is new */
function recordCount(
  tx: Transaction,
  accountId: number,
  before: Partial<InventoryItem>,
  after: StoredItem,
  lowStock: number,
  origin?: Origin,
): void {
  const { quantity, status } = after.item;
  const freeBefore = before.quantity ?? 0;
  if (quantity === before.quantity && status === before.status) return;
  const known = { petId: after.item.petId, ...before };
  const previous = fieldsBefore(known, after.item);
  tx.record({ ...eventOf(accountId, "inventory.updated", after), previous }, origin);
  if (freeBefore > lowStock && quantity <= lowStock) tx.record({ ...eventOf(accountId, "inventory.low", after), previous }, origin);
  if (freeBefore > 0 && quantity === 0) tx.record({ ...eventOf(accountId, "inventory.out", after), previous }, origin);
}

function eventOf(accountId: number, type: EventDraft["type"], { item, version }: StoredItem): EventDraft {
  return { accountId, type, resource: { type: "inventory", id: item.petId }, data: item, version };
}

function fromRow([petId, quantity, held, status, version]: ItemRow): StoredItem {
  return { item: { petId, quantity, status }, held, version };
}

function absent(petId: number): never {
  const toTrack = `PUT ${addressOf(`/store/inventory/${Number.isSafeInteger(petId) ? petId : "{petId}"}`)} with a quantity begins to track it`;
  throw new Problem("not_found", `${byId("Pet", petId)} has no inventory entry, so its stock is not tracked: ${toTrack}.`);
}

function tooMany(): never {
  const message = `must not exceed ${int32Max} together with the units that open orders hold`;
  throw invalidAt("body", message, `The count ${message}.`);
}

function unitsLost(petId: number): never {
  throw new Error(`the entry of pet ${petId} no longer has the units that an order holds`);
}

/* Changes of the stock of many pets at once, in few statements. The caller sees to the status of each pet. */

/** The most rows of one statement. */
const rowsAtOnceMax = 250;

const insertRows = statementOfRows(`
  INSERT INTO inventory (account_id, pet_id, quantity, held, status, version, highest)
  SELECT CAST(added.value ->> 3 AS BIGINT), CAST(added.value ->> 0 AS BIGINT), CAST(added.value ->> 1 AS BIGINT), 0, added.value ->> 2,
    CAST(added.value ->> 4 AS BIGINT), CAST(added.value ->> 5 AS BIGINT) FROM ROWS AS added`);
const updateRows = statementOfRows(`
  UPDATE inventory SET quantity = CAST(changed.value ->> 1 AS BIGINT), status = changed.value ->> 2, version = version + 1,
    highest = ${highestWith("CAST(changed.value ->> 1 AS BIGINT)")}
  FROM ROWS AS changed WHERE account_id = CAST(changed.value ->> 3 AS BIGINT) AND pet_id = CAST(changed.value ->> 0 AS BIGINT)`);

/** Pets and inventory entries, by pet. */
export type PetsWithEntries = { pets: Map<number, StoredPet>; entries: Map<number, StoredItem> };

/** Locks the entries of these pets, then the pets, in the common order. Returns those that exist. */
export async function lockPetsWithEntries(tx: Transaction, accountId: number, ids: readonly number[]): Promise<PetsWithEntries> {
  if (ids.length === 0) return { pets: new Map(), entries: new Map() };
  const find = sql`SELECT ${columns} FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${join([...ids])}) ORDER BY pet_id`;
  const rows = await tx.query<EntryRow>(sql`${find}${tx.forUpdate}`);
  const pets = await lockPets(tx, accountId, ids);
  // Entries may have been added before the pets were locked. They must be locked before the pets, so the transaction starts over.
  if ((await tx.query(find)).length > rows.length) tx.startOver();
  const entries = rows.map(({ pet_id: id, quantity, held, status, version }) => fromRow([id, quantity, held, status, version]));
  return { pets, entries: new Map(entries.map((entry) => [entry.item.petId, entry])) };
}

/** A count of a pet. Default of `version`, that of a new entry: 1; of `highest`: the quantity. */
type Count = { petId: number; quantity: number; held?: number; version?: number; highest?: number | null };

/** Begins to track locked or new pets. */
export async function addEntries(tx: Transaction, accountId: number, counts: readonly Count[]): Promise<void> {
  await writeRows(tx, accountId, insertRows, counts);
  for (const { petId, quantity, version = 1 } of counts) {
    recordCount(tx, accountId, {}, fromRow([petId, quantity, 0, statusOfStock({ quantity, held: 0 }), version]), 0);
  }
}

/** Sets the number of free units of locked entries. */
export async function setCounts(
  tx: Transaction,
  accountId: number,
  changes: readonly { current: StoredItem; quantity: number }[],
): Promise<void> {
  if (changes.length === 0) return;
  const [account] = await tx.query<{ low_stock: number }>(sql`SELECT low_stock FROM accounts WHERE id = ${accountId}`);
  await writeRows(
    tx,
    accountId,
    updateRows,
    changes.map(({ current: { item, held }, quantity }) => ({ petId: item.petId, quantity, held })),
  );
  for (const { current, quantity } of changes) {
    const { item, held, version } = current;
    const after = fromRow([item.petId, quantity, held, statusOfStock({ quantity, held }), version + 1]);
    recordCount(tx, accountId, item, after, account?.low_stock ?? 0);
  }
}

/** Ends the tracking of locked pets whose entries no open order holds units of. */
export async function deleteEntries(tx: Transaction, accountId: number, entries: readonly StoredItem[]): Promise<void> {
  if (entries.length === 0) return;
  const ids = join(entries.map(({ item }) => item.petId));
  await tx.query(sql`DELETE FROM inventory WHERE account_id = ${accountId} AND pet_id IN (${ids})`);
  for (const entry of entries) tx.record(eventOf(accountId, "inventory.deleted", entry));
}

async function writeRows(tx: Transaction, accountId: number, writing: typeof insertRows, counts: readonly Count[]): Promise<void> {
  for (let from = 0; from < counts.length; from += rowsAtOnceMax) {
    const some = counts.slice(from, from + rowsAtOnceMax);
    const rows = some.map(({ petId, quantity, held = 0, version = 1, highest = quantity }) => [
      petId,
      quantity,
      statusOfStock({ quantity, held }),
      accountId,
      version,
      highest,
    ]);
    await tx.run(writing, [JSON.stringify(rows)]);
  }
}
