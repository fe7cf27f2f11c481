import sql from "sql-template-tag";
import { breaks, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { limitTo } from "../../platform/db/limit.ts";
import { fold } from "../../platform/folding.ts";
import { byId } from "../../platform/ids.ts";
import { Problem } from "../../platform/problem.ts";
import type { Category, NewCategory } from "./categories.ts";

type CategoryRow = { id: number; name: string; description: string | null; version: number };

/** A category with the version that its ETag shows. */
export type StoredCategory = { category: Category; version: number };

const columns = sql`id, name, description, version`;

/** Up to `limit` categories with an id above `afterId`, by id. */
export async function listCategories(db: Queryable, accountId: number, afterId: number, limit: number): Promise<Category[]> {
  const rows = await db.query<CategoryRow>(sql`
    SELECT ${columns} FROM categories WHERE account_id = ${accountId} AND id > ${afterId} ORDER BY id ${limitTo(limit)}`);
  return rows.map((row) => stored(row).category);
}

/** @throws Problem `not_found` */
export async function findCategory(db: Queryable, accountId: number, id: number): Promise<StoredCategory> {
  return one(await db.query<CategoryRow>(sql`SELECT ${columns} FROM categories WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** The category, locked until the transaction ends. @throws Problem `not_found` */
export async function lockCategory(tx: Transaction, accountId: number, id: number): Promise<StoredCategory> {
  const rows = await tx.query<CategoryRow>(sql`
    SELECT ${columns} FROM categories WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return one(rows, id);
}

/** @throws Problem `category_exists` */
export async function insertCategory(tx: Transaction, accountId: number, { name, description }: NewCategory): Promise<StoredCategory> {
  const rows = await tx.query<CategoryRow>(sql`
    INSERT INTO categories (account_id, id, name, name_key, description, version)
    VALUES (${accountId}, nextval('category_ids'), ${name}, ${fold(name)}, ${description ?? null}, 1)
    ON CONFLICT (account_id, name_key) DO NOTHING
    RETURNING ${columns}`);
  const [row] = rows;
  if (!row) throw categoryExists(name);
  return stored(row);
}

/** @throws Problem `category_exists` */
export async function updateCategory(tx: Transaction, accountId: number, id: number, next: NewCategory): Promise<StoredCategory> {
  try {
    const rows = await tx.query<CategoryRow>(sql`
      UPDATE categories SET name = ${next.name}, name_key = ${fold(next.name)}, description = ${next.description ?? null}, version = version + 1
      WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
    return one(rows, id);
  } catch (error) {
    throw breaks("unique", error) ? categoryExists(next.name) : error;
  }
}

/** @throws Problem `category_not_empty` */
export async function deleteCategory(tx: Transaction, accountId: number, id: number): Promise<void> {
  try {
    await tx.query(sql`DELETE FROM categories WHERE account_id = ${accountId} AND id = ${id}`);
  } catch (error) {
    throw breaks("foreign_key", error)
      ? new Problem("category_not_empty", `Category ${id} has animals: move or delete them first.`)
      : error;
  }
}

function one(rows: CategoryRow[], id: number): StoredCategory {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("category", id)}.`);
  return stored(row);
}

function stored({ id, name, description, version }: CategoryRow): StoredCategory {
  return { category: { id, name, ...(description !== null && { description }) }, version };
}

function categoryExists(name: string): Problem {
  return new Problem("category_exists", `There is a category named "${name}" already.`);
}
