import sql, { join, raw } from "sql-template-tag";
import { andThen, breaks, type Awaitable, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { insertion, lockingStatement, statement, statementOfRows } from "../../platform/db/statement.ts";
import { fieldsBefore, type EventDraft, type Origin } from "../../platform/events.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { byId, detailsMax, Problem, unknownReference } from "../../platform/problem.ts";
import { addRecords, removeRecords } from "../../platform/storage-quotas.ts";
import { portionsByWords, splitAtOnce } from "./pet-words.store.ts";
import { nameKeyOf, statusDefault, type NewPet, type Pet, type PetChange, type PetStatus } from "./pets.ts";

/** A pet with the version that its ETag shows. */
export type StoredPet = { pet: Pet; version: number };

/** A pet as JSON text, with the version that its ETag shows. */
export type ShownPet = { json: string; version: number };

/** The columns of a pet, in the order of `PetValues`. */
const columnNames = "id, name, category_id, status, version";
type PetValues = [id: number, name: string, categoryId: number, status: PetStatus, version: number];

export const petColumns = raw(columnNames);
const byKey = "FROM pets WHERE account_id = ? AND id = ?";
const petById = `SELECT ${columnNames} ${byKey}`;

/**
 * The JSON of a pet, as answers show it. SQLite makes it when the row changes, as a column. PostgreSQL makes it when the row is read,
 * because its generated columns cannot use `to_json`.
 */
const jsonOfPet = {
  sqlite: "json",
  postgres: `'{"id":' || id || ',"name":' || to_json(name) || ',"categoryId":' || category_id || ',"status":"' || status || '"}'`,
};
const shownPets =
  /^(?:\{"id":[1-9]\d*,"name":"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*","categoryId":[1-9]\d*,"status":"(?:available|pending|sold)"\}(?:,(?=\{)|$))*$/;

/**
 * Returns the JSON of pets, separated by commas, as the embedded database stores it: it is sent unread. Checks its form in a sixth of the time that parsing it
 * takes.
 *
 * @throws Problem `unavailable` if it was damaged
 */
export function wholePets(db: Pick<Database, "engine" | "reportDamage">, json: string): string {
  if (db.engine === "sqlite" && !shownPets.test(json)) throw db.reportDamage("the JSON of a pet is damaged");
  return json;
}

const showById = statement<[json: string, version: number]>(
  `SELECT ${jsonOfPet.sqlite}, version ${byKey}`,
  `SELECT ${jsonOfPet.postgres}, version ${byKey}`,
);

/** The columns of a list of pets as JSON text (`joinedStatement`). */
export const shownColumns = { sqlite: raw(`${jsonOfPet.sqlite} AS json, id`), postgres: raw(`${jsonOfPet.postgres} AS json, id`) };

/** Returns undefined if there is no such pet. */
export function showPet(db: Database, accountId: number, id: number): Awaitable<ShownPet | undefined> {
  return andThen(db.rows(showById, [accountId, id]), ([row]) => row && { json: row[0], version: row[1] });
}

function storedOf([id, name, categoryId, status, version]: PetValues): StoredPet {
  return { pet: { id, name, categoryId, status }, version };
}

export type PetRow = { id: number; name: string; category_id: number; status: PetStatus; version: number };

const findById = statement<PetValues>(petById);
const newPets = insertion("pets", "pet_ids", {
  account_id: "BIGINT",
  name: "TEXT",
  name_key: "TEXT",
  category_id: "BIGINT",
  status: "TEXT",
  version: "BIGINT",
  is_split: "BOOLEAN",
});
const lockById = lockingStatement<PetValues>(petById);
const updateRows = statementOfRows(`
  UPDATE pets SET name = changed.value ->> 1, name_key = changed.value ->> 2, category_id = CAST(changed.value ->> 3 AS BIGINT),
    status = changed.value ->> 4, version = version + 1, is_split = TRUE
  FROM ROWS AS changed WHERE account_id = CAST(changed.value ->> 5 AS BIGINT) AND pets.id = CAST(changed.value ->> 0 AS BIGINT)`);

/** Returns undefined if there is no such pet. */
export function findPet(db: Queryable, accountId: number, id: number): Awaitable<StoredPet | undefined> {
  return andThen(db.rows(findById, [accountId, id]), petOf);
}

/** Locks the pet until the transaction ends. Returns undefined if there is no such pet. */
export function lockPet(tx: Transaction, accountId: number, id: number): Awaitable<StoredPet | undefined> {
  return andThen(tx.rows(lockById, [accountId, id]), petOf);
}

function petOf([values]: PetValues[]): StoredPet | undefined {
  return values && storedOf(values);
}

/** Returns whether the account has the pet, without locking it. */
export async function petExists(db: Queryable, accountId: number, id: number): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM pets WHERE account_id = ${accountId} AND id = ${id}`)).length > 0;
}

/** @throws Problem `unknown_reference` for an unknown category, `storage_limit_reached` */
export async function insertPet(tx: Transaction, accountId: number, pet: NewPet): Promise<StoredPet> {
  const [stored] = await insertRows(tx, accountId, [pet]);
  await addRecords(tx, accountId, 1);
  return stored!;
}

/**
 * Inserts all of the pets, in order, or none.
 *
 * @param pathOf where each pet is in the request
 * @throws Problem `unknown_reference` that names the first pet of an unknown category, `storage_limit_reached`
 */
export async function insertPets(
  tx: Transaction,
  accountId: number,
  created: NewPet[],
  pathOf = (index: number): string => `body[${index}]`,
): Promise<Pet[]> {
  await requireCategories(tx, accountId, created, pathOf);
  const inserted = await insertRows(tx, accountId, created);
  await addRecords(tx, accountId, inserted.length);
  return inserted.map(({ pet }) => pet);
}

/**
 * Updates a locked pet. Does nothing if no field changes. A tracked pet's status keeps following its stock.
 *
 * @throws Problem `unknown_reference`, `status_follows_stock` for a status that the stock contradicts
 */
export async function updatePet(tx: Transaction, accountId: number, current: StoredPet, change: PetChange): Promise<StoredPet> {
  const { pet } = current;
  // Tracking cannot begin while the pet is locked.
  const stock = change.status === pet.status ? undefined : await findStock(tx, accountId, pet.id);
  const status = stock ? pet.status : (change.status ?? statusDefault);
  const isSame = change.name === pet.name && change.categoryId === pet.categoryId && status === pet.status;
  const updated = isSame ? current : await writePet(tx, accountId, current, { ...change, id: pet.id, status });
  if (stock && change.status !== null) throw statusFollowsStock(pet, change.status, stock);
  return updated;
}

/** Locks these pets, in the common order, and returns those that exist, by id. */
export async function lockPets(tx: Transaction, accountId: number, ids: readonly number[]): Promise<Map<number, StoredPet>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<PetRow>(sql`
    SELECT ${petColumns} FROM pets WHERE account_id = ${accountId} AND id IN (${join([...ids])}) ORDER BY id${tx.forUpdate}`);
  return new Map(rows.map((row) => [row.id, storedPet(row)]));
}

/** Writes pets that `lockPets` has locked, and that differ from their rows. The caller has checked categories and statuses. */
export async function updatePets(
  tx: Transaction,
  accountId: number,
  changes: readonly { current: StoredPet; next: Pet }[],
): Promise<StoredPet[]> {
  const keys = await keysOf(
    tx,
    changes.map(({ next }) => next.name),
  );
  const rows = changes.map(({ next: { id, name, categoryId, status } }, i) => [id, name, keys[i]!, categoryId, status, accountId] as const);
  for (const portion of portionsByWords(rows, ([, , key]) => key)) await tx.run(updateRows, [JSON.stringify(portion)]);
  return changes.map(({ current, next }) => {
    const updated = { pet: next, version: current.version + 1 };
    recordUpdate(tx, accountId, current, updated);
    return updated;
  });
}

async function writePet(tx: Transaction, accountId: number, current: StoredPet, next: Pet): Promise<StoredPet> {
  const { id, name, categoryId, status } = next;
  try {
    const rows = await tx.query<PetRow>(sql`
      UPDATE pets SET name = ${name}, name_key = ${nameKeyOf(name)}, category_id = ${categoryId}, status = ${status}, version = version + 1,
        is_split = TRUE
      WHERE account_id = ${accountId} AND id = ${id} RETURNING ${petColumns}`);
    const updated = requireRow(rows, id);
    recordUpdate(tx, accountId, current, updated);
    return updated;
  } catch (error) {
    throw breaks("foreign_key", error) ? unknownCategory(categoryId) : error;
  }
}

type Stock = { quantity: number; held: number };

/** Returns the stock of a pet, or undefined if the pet is untracked. */
async function findStock(tx: Transaction, accountId: number, petId: number): Promise<Stock | undefined> {
  const [stock] = await tx.query<Stock>(sql`SELECT quantity, held FROM inventory WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  return stock;
}

function statusFollowsStock({ id, status }: Pet, wanted: PetStatus, { quantity, held }: Stock): Problem {
  const entry = addressOf(`/store/inventory/${id}`);
  const says = `Pet ${id} is ${status}, as its stock says: ${quantity} free, ${held} held by open orders. It cannot be set to ${wanted}.`;
  return new Problem("status_follows_stock", `${says} Change the count with PUT ${entry}, or stop tracking with DELETE ${entry}.`);
}

/** Writes the status that follows from the stock, if it differs. */
export async function deriveStatus(tx: Transaction, accountId: number, id: number, status: PetStatus, origin?: Origin): Promise<void> {
  const current = await lockPet(tx, accountId, id);
  if (!current || current.pet.status === status) return;
  await tx.query(sql`UPDATE pets SET status = ${status}, version = version + 1 WHERE account_id = ${accountId} AND id = ${id}`);
  recordUpdate(tx, accountId, current, { pet: { ...current.pet, status }, version: current.version + 1 }, origin);
}

function eventOf(accountId: number, type: EventDraft["type"], { pet, version }: StoredPet): EventDraft {
  return { accountId, type, resource: { type: "pet", id: pet.id }, data: pet, version };
}

function recordUpdate(tx: Transaction, accountId: number, before: StoredPet, after: StoredPet, origin?: Origin): void {
  tx.record({ ...eventOf(accountId, "pet.updated", after), previous: fieldsBefore(before.pet, after.pet) }, origin);
}

/** A pet, and its inventory entry if it is tracked. */
export type PetWithEntry = StoredPet & { entry: { quantity: number; status: PetStatus; version: number } | undefined };

/** Locks the inventory entry, then the pet, so that no order can take units. Returns undefined if there is no such pet. */
export async function lockPetWithEntry(tx: Transaction, accountId: number, id: number): Promise<PetWithEntry | undefined> {
  const find = sql`SELECT quantity, status, version FROM inventory WHERE account_id = ${accountId} AND pet_id = ${id}`;
  const [entry] = await tx.query<NonNullable<PetWithEntry["entry"]>>(sql`${find}${tx.forUpdate}`);
  const pet = await lockPet(tx, accountId, id);
  // An entry may have been added before the pet was locked. It must be locked before the pet, so the transaction starts over.
  if (!entry && (await tx.query(find)).length > 0) tx.startOver();
  return pet && { ...pet, entry };
}

/**
 * Deletes a pet that `lockPetWithEntry` has locked, and its inventory entry.
 *
 * @throws Problem `pet_in_use` while an unfulfilled order is for this pet
 */
export async function deletePet(tx: Transaction, accountId: number, current: PetWithEntry): Promise<void> {
  if (!(await deletePetRow(tx, accountId, current))) throw inUse(current.pet.id);
  await removeRecords(tx, accountId, 1);
}

/** Does the same, but keeps counting the pet as a record. Returns false, and changes nothing, while an unfulfilled order is for it. */
export async function deletePetRow(tx: Transaction, accountId: number, current: PetWithEntry): Promise<boolean> {
  const { id } = current.pet;
  const gone = await tx.query(sql`
    DELETE FROM pets WHERE account_id = ${accountId} AND id = ${id} AND NOT EXISTS
      (SELECT 1 FROM orders WHERE account_id = ${accountId} AND pet_id = ${id} AND complete = FALSE)
    RETURNING id`);
  if (gone.length === 0) return false;
  recordDeletion(tx, accountId, current);
  return true;
}

/** Returns whether an unfulfilled order is for this pet. */
export async function hasOpenOrder(tx: Transaction, accountId: number, id: number): Promise<boolean> {
  const ofPet = sql`account_id = ${accountId} AND pet_id = ${id} AND complete = FALSE`;
  return (await tx.query(sql`SELECT 1 FROM orders WHERE ${ofPet} LIMIT 1`)).length > 0;
}

export function inUse(id: number): Problem {
  return new Problem("pet_in_use", `Pet ${id} has an unfulfilled order: fulfil or delete the order first.`);
}

/** Inserts a pet with the identifier that it had. Its record is counted already. */
export async function returnPet(tx: Transaction, accountId: number, returned: StoredPet): Promise<void> {
  const { pet, version } = returned;
  const { id, name, categoryId, status } = pet;
  await tx.query(sql`
    INSERT INTO pets (account_id, id, name, name_key, category_id, status, version, is_split)
    VALUES (${accountId}, ${id}, ${name}, ${nameKeyOf(name)}, ${categoryId}, ${status}, ${version}, TRUE)`);
  tx.record(eventOf(accountId, "pet.created", returned));
}

/** Deletes pets without orders that are locked with their inventory entries. */
export async function deletePets(tx: Transaction, accountId: number, pets: readonly PetWithEntry[]): Promise<void> {
  if (pets.length === 0) return;
  for (const portion of portionsByWords(pets, ({ pet }) => nameKeyOf(pet.name)))
    await tx.query(sql`DELETE FROM pets WHERE account_id = ${accountId} AND id IN (${join(portion.map(({ pet }) => pet.id))})`);
  await removeRecords(tx, accountId, pets.length);
  for (const pet of pets) recordDeletion(tx, accountId, pet);
}

function recordDeletion(tx: Transaction, accountId: number, current: PetWithEntry): void {
  const { pet, entry } = current;
  if (entry) {
    const { version, quantity, status } = entry;
    const data = { petId: pet.id, quantity, status };
    tx.record({ accountId, type: "inventory.deleted", resource: { type: "inventory", id: pet.id }, data, version });
  }
  tx.record(eventOf(accountId, "pet.deleted", current));
}

/** Returns the keys of names. Gives other work its turn, because a thousand of the costliest names take longer than one turn may. */
async function keysOf(tx: Transaction, names: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const name of names) {
    keys.push(nameKeyOf(name));
    await tx.giveTurn();
  }
  return keys;
}

async function insertRows(tx: Transaction, accountId: number, created: NewPet[]): Promise<StoredPet[]> {
  const whole = created.map(({ name, categoryId, status = statusDefault }) => ({ name, categoryId, status }));
  const keys = await keysOf(
    tx,
    whole.map(({ name }) => name),
  );
  const areSplit = splitAtOnce(keys);
  const rows = whole.map(({ name, categoryId, status }, i) => [accountId, name, keys[i]!, categoryId, status, 1, Number(areSplit[i])]);
  try {
    const ids = await tx.insert(newPets, rows);
    const inserted = whole.map((pet, i) => ({ pet: { id: ids[i]!, ...pet }, version: 1 }));
    for (const pet of inserted) tx.record(eventOf(accountId, "pet.created", pet));
    return inserted;
  } catch (error) {
    throw breaks("foreign_key", error) ? unknownCategory(created[0]!.categoryId) : error;
  }
}

/** @throws Problem `unknown_reference` that names each pet of an unknown category */
export async function requireCategories(
  tx: Transaction,
  accountId: number,
  pets: readonly Pick<NewPet, "categoryId">[],
  pathOf: (index: number) => string,
): Promise<void> {
  const wanted = [...new Set(pets.map(({ categoryId }) => categoryId))];
  if (wanted.length === 0) return;
  const rows = await tx.query<{ id: number }>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND id IN (${join(wanted)})`);
  const known = new Set(rows.map(({ id }) => id));
  const details = pets.flatMap(({ categoryId }, index) =>
    known.has(categoryId) ? [] : [{ path: `${pathOf(index)}.categoryId`, message: `there is no ${byId("category", categoryId)}` }],
  );
  const [first] = details;
  if (first) throw new Problem("unknown_reference", `${first.path}: ${first.message}.`, { details: details.slice(0, detailsMax) });
}

function requireRow(rows: PetRow[], id: number): StoredPet {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("pet", id)}.`);
  return storedPet(row);
}

export function storedPet({ id, name, category_id: categoryId, status, version }: PetRow): StoredPet {
  return { pet: { id, name, categoryId, status }, version };
}

function unknownCategory(id: number): Problem {
  return unknownReference("body.categoryId", byId("category", id));
}
