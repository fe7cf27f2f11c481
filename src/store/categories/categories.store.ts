import sql, { join } from "sql-template-tag";
import { breaks, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import { fieldsBefore, type EventDraft } from "../../platform/events.ts";
import { normalize } from "../../platform/folding.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { addRecords, removeRecords } from "../../platform/storage-quotas.ts";
import type { Category, CategoryQuery, NewCategory } from "./categories.ts";

type CategoryRow = { id: number; name: string; description: string | null; version: number };

/** A category with the version that its ETag shows. */
export type StoredCategory = { category: Category; version: number };

const columns = sql`id, name, description, version`;

/** Returns up to `limit` categories that pass the filter and have an id above `afterId`, sorted by id. */
export async function listCategories(
  db: Database,
  accountId: number,
  { name }: CategoryQuery,
  afterId: number,
  limit: number,
): Promise<Category[]> {
  const walk = name === undefined ? { order: ["id"], after: [afterId] } : { equal: { name_key: normalize(name) }, order: [] };
  const rows = await db.query<CategoryRow>(walkRows(db.engine, { table: "categories", columns, accountId, ...walk }, limit));
  return rows.map((row) => fromRow(row).category).filter(({ id }) => id > afterId);
}

/** @throws Problem `not_found` */
export async function findCategory(db: Queryable, accountId: number, id: number): Promise<StoredCategory> {
  return requireRow(await db.query<CategoryRow>(sql`SELECT ${columns} FROM categories WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** Locks the category until the transaction ends. @throws Problem `not_found` */
export async function lockCategory(tx: Transaction, accountId: number, id: number): Promise<StoredCategory> {
  const rows = await tx.query<CategoryRow>(sql`
    SELECT ${columns} FROM categories WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return requireRow(rows, id);
}

/** @throws Problem `category_exists`, `storage_limit_reached` */
export async function insertCategory(tx: Transaction, accountId: number, { name, description }: NewCategory): Promise<StoredCategory> {
  const rows = await tx.query<CategoryRow>(sql`
    INSERT INTO categories (account_id, id, name, name_key, description, version)
    VALUES (${accountId}, nextval('category_ids'), ${name}, ${normalize(name)}, ${description ?? null}, 1)
    ON CONFLICT (account_id, name_key) DO NOTHING
    RETURNING ${columns}`);
  const [row] = rows;
  if (!row) throw categoryExists(name);
  await addRecords(tx, accountId, 1);
  const created = fromRow(row);
  tx.record(eventOf(accountId, "category.created", created));
  return created;
}

const insertNames = statementOfRows<[id: number, name: string]>(`
  INSERT INTO categories (account_id, id, name, name_key, description, version)
  SELECT CAST(?2 AS BIGINT), nextval('category_ids'), wanted.value ->> 0, wanted.value ->> 1, NULL, 1 FROM ROWS AS wanted WHERE TRUE
  ON CONFLICT (account_id, name_key) DO NOTHING RETURNING id, name`);

/** Inserts the categories of these names that are missing, and returns their identifiers. @throws Problem `storage_limit_reached` */
export async function insertMissingCategories(tx: Transaction, accountId: number, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return [];
  const rows = await tx.rows(insertNames, [JSON.stringify(names.map((name) => [name, normalize(name)])), accountId]);
  if (rows.length > 0) await addRecords(tx, accountId, rows.length);
  for (const [id, name] of rows) tx.record(eventOf(accountId, "category.created", { category: { id, name }, version: 1 }));
  return rows.map(([id]) => id);
}

/** Deletes those of these categories that have no pets and that nobody has changed since they were made. */
export async function deleteUnusedCategories(tx: Transaction, accountId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx.query<CategoryRow>(sql`
    DELETE FROM categories WHERE account_id = ${accountId} AND id IN (${join([...ids])}) AND version = 1
      AND NOT EXISTS (SELECT 1 FROM pets WHERE pets.account_id = categories.account_id AND category_id = categories.id)
    RETURNING ${columns}`);
  if (rows.length === 0) return;
  await removeRecords(tx, accountId, rows.length);
  for (const row of rows) tx.record(eventOf(accountId, "category.deleted", fromRow(row)));
}

/** Updates a locked category. Does nothing if no field changes. @throws Problem `category_exists` */
export async function updateCategory(
  tx: Transaction,
  accountId: number,
  current: StoredCategory,
  next: NewCategory,
): Promise<StoredCategory> {
  const { id, name, description } = current.category;
  if (next.name === name && next.description === description) return current;
  try {
    const rows = await tx.query<CategoryRow>(sql`
      UPDATE categories SET name_key = CASE WHEN name = ${next.name} THEN name_key ELSE ${normalize(next.name)} END, name = ${next.name}, description = ${next.description ?? null}, version = version + 1
      WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
    const updated = requireRow(rows, id);
    tx.record({ ...eventOf(accountId, "category.updated", updated), previous: fieldsBefore(current.category, updated.category) });
    return updated;
  } catch (error) {
    throw breaks("unique", error) ? categoryExists(next.name) : error;
  }
}

/** Deletes a locked category. @throws Problem `category_not_empty` */
export async function deleteCategory(tx: Transaction, accountId: number, current: StoredCategory): Promise<void> {
  const { id } = current.category;
  try {
    await tx.query(sql`DELETE FROM categories WHERE account_id = ${accountId} AND id = ${id}`);
    await removeRecords(tx, accountId, 1);
    tx.record(eventOf(accountId, "category.deleted", current));
  } catch (error) {
    throw breaks("foreign_key", error) ? new Problem("category_not_empty", `Category ${id} has pets: move or delete them first.`) : error;
  }
}

function eventOf(accountId: number, type: EventDraft["type"], { category, version }: StoredCategory): EventDraft {
  return { accountId, type, resource: { type: "category", id: category.id }, data: category, version };
}

function requireRow(rows: CategoryRow[], id: number): StoredCategory {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("category", id)}.`);
  return fromRow(row);
}

function fromRow({ id, name, description, version }: CategoryRow): StoredCategory {
  return { category: { id, name, ...(description !== null && { description }) }, version };
}

function categoryExists(name: string): Problem {
  return new Problem("category_exists", `There is a category named "${name}" already.`);
}
