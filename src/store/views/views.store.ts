import sql, { raw } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { normalize } from "../../platform/folding.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";

/** The most saved views of one list of an account. */
const viewsMax = 20;

/** A saved view: the filters and the order of a list, under a name. */
export type View = { id: number; name: string; query: object };

type ViewRow = { id: number; name: string; query: string };
const columns = raw("id, name, query");

/** Returns the views of a list, the oldest first. */
export async function listViews(db: Queryable, accountId: number, list: string): Promise<View[]> {
  const rows = await db.query<ViewRow>(
    sql`SELECT ${columns} FROM saved_views WHERE account_id = ${accountId} AND list = ${list} ORDER BY id ${limitTo(viewsMax)}`,
  );
  return rows.map(({ id, name, query }) => ({ id, name, query: JSON.parse(query) as object }));
}

/** @throws Problem `invalid_request` if the list has a view of this name, or as many as it may have */
export async function insertView(tx: Transaction, accountId: number, list: string, { name, query }: Omit<View, "id">): Promise<View> {
  await tx.lock(`views of ${accountId}`);
  const others = await listViews(tx, accountId, list);
  const key = normalize(name);
  if (others.some((other) => normalize(other.name) === key)) throw invalidAt("body.name", "is the name of another view of this list");
  if (others.length >= viewsMax)
    throw invalidAt("body", "is one view too many", `The list has ${viewsMax} saved views already: delete some first.`);
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO saved_views (account_id, id, list, name, query)
    VALUES (${accountId}, nextval('saved_view_ids'), ${list}, ${name}, ${JSON.stringify(query)}) RETURNING id`);
  return { id: row!.id, name, query };
}

/** @throws Problem `not_found` */
export async function deleteView(tx: Transaction, accountId: number, list: string, id: number): Promise<void> {
  const gone = await tx.query(sql`DELETE FROM saved_views WHERE account_id = ${accountId} AND id = ${id} AND list = ${list} RETURNING id`);
  if (gone.length === 0) throw new Problem("not_found", `There is no ${byId("view", id)}.`);
}
