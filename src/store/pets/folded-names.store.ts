import sql from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import { foldingVersion, normalize } from "../../platform/folding.ts";
import { hasOtherFoldings } from "../../platform/nodes/nodes.ts";
import { foldFacts } from "./pet-facts.store.ts";
import { portionsByWords } from "./pet-words.store.ts";
import { nameKeyOf } from "./pets.ts";

/*
 * After a change of the rules by which names fold, the stored keys are made anew in steps of their own transactions (decision 0107). `folded_names` says
 * how far that has come, so a start that is cut short, or another node, goes on there.
 */

/** The rows that one step reads: all are those of names beyond ASCII, which folding may change. */
const stepRowsMax = 250;

type Kind = "categories" | "pets" | "facts";
type Place = { kind: Kind; accountId: number; lastId: number };
type UnfoldedPet = { account_id: number; id: number; name: string; name_key: string };

const beginning: Place = { kind: "categories", accountId: 0, lastId: 0 };

/**
 * Makes the keys of all names anew unless they are those of this release. While a node of another release writes keys of its own, the next call begins
 * again.
 */
export async function foldNames(db: Database): Promise<void> {
  const isMixed = await hasOtherFoldings(db);
  if (!isMixed && (await isFolded(db))) return;
  if (isMixed) await db.write((tx) => savePlace(tx, beginning, ""));
  while (await db.write(foldSome));
  await db.write((tx) => savePlace(tx, beginning, isMixed ? "" : foldingVersion));
}

/** Selects how many categories keep a name that now folds like that of an earlier one, and one of them. */
export const namesAlike = sql`
  SELECT COUNT(*) AS count, MIN(account_id) AS account_id, MIN(name) AS name FROM categories WHERE name_key LIKE ${`%\u0001%`}`;

async function isFolded(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ folding: string }>(sql`SELECT folding FROM folded_names`);
  return row?.folding === foldingVersion;
}

/** Folds the names of one step. Returns whether there may be more. */
async function foldSome(tx: Transaction): Promise<boolean> {
  await tx.lock("folded_names");
  const [row] = await tx.query<{ folding: string; kind: Kind; account_id: number; last_id: number }>(sql`SELECT * FROM folded_names`);
  if (row?.folding === foldingVersion) return false;
  const place = row ? { kind: row.kind, accountId: row.account_id, lastId: row.last_id } : beginning;
  if (place.kind === "facts") {
    const next = await foldFacts(tx, place.accountId, place.lastId);
    if (next) await savePlace(tx, { kind: "facts", ...next }, "");
    return next !== undefined;
  }
  const rows = place.kind === "pets" ? await foldPets(tx, place) : await foldCategories(tx, place);
  const last = rows.at(-1);
  const isOver = rows.length < stepRowsMax;
  const next = place.kind === "pets" ? "facts" : "pets";
  await savePlace(
    tx,
    isOver || !last ? { kind: next, accountId: 0, lastId: 0 } : { ...place, accountId: last.account_id, lastId: last.id },
    "",
  );
  return true;
}

async function savePlace(tx: Transaction, { kind, accountId, lastId }: Place, folding: string): Promise<void> {
  await tx.query(sql`
    INSERT INTO folded_names (id, folding, kind, account_id, last_id) VALUES (1, ${folding}, ${kind}, ${accountId}, ${lastId})
    ON CONFLICT (id) DO UPDATE SET folding = excluded.folding, kind = excluded.kind, account_id = excluded.account_id, last_id = excluded.last_id`);
}

const updateKeys = statementOfRows(`
  UPDATE pets SET name_key = changed.value ->> 2, is_split = TRUE FROM ROWS AS changed
  WHERE account_id = CAST(changed.value ->> 3 AS BIGINT) AND pets.id = CAST(changed.value ->> 0 AS BIGINT) AND pets.name = changed.value ->> 1`);

async function foldPets(tx: Transaction, { accountId, lastId }: Place): Promise<UnfoldedPet[]> {
  const rows = await tx.query<UnfoldedPet>(sql`
    SELECT account_id, id, name, name_key FROM pets
    WHERE (account_id, id) > (${accountId}, ${lastId}) AND octet_length(name) <> length(name) ORDER BY account_id, id ${limitTo(stepRowsMax)}`);
  const stale = rows.flatMap(({ account_id: account, id, name, name_key: before }) => {
    const key = nameKeyOf(name);
    return key === before ? [] : [[id, name, key, account] as const];
  });
  for (const portion of portionsByWords(stale, ([, , key]) => key)) await tx.run(updateKeys, [JSON.stringify(portion)]);
  return rows;
}

/** Stands in a key between a name and the id that keeps it apart. No name can have it. */
const apart = "\u0001";

async function foldCategories(tx: Transaction, { accountId, lastId }: Place): Promise<UnfoldedPet[]> {
  const rows = await tx.query<UnfoldedPet>(sql`
    SELECT account_id, id, name, name_key FROM categories
    WHERE (account_id, id) > (${accountId}, ${lastId}) AND octet_length(name) <> length(name) ORDER BY account_id, id ${limitTo(stepRowsMax)}`);
  for (const { account_id: account, id, name } of rows) await foldCategory(tx, account, id, normalize(name));
  return rows;
}

/** Gives a category its key. Of two names that fold alike, the earlier category has the key, and that of the later one has its id too. */
async function foldCategory(tx: Transaction, accountId: number, id: number, key: string): Promise<void> {
  const [holder] = await tx.query<UnfoldedPet>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND name_key = ${key}`);
  if (holder?.id === id) return;
  if (holder && holder.id > id) await setKey(tx, accountId, holder.id, `${key}${apart}${holder.id}`);
  await setKey(tx, accountId, id, holder && holder.id < id ? `${key}${apart}${id}` : key);
}

async function setKey(tx: Transaction, accountId: number, id: number, key: string): Promise<void> {
  await tx.query(sql`UPDATE categories SET name_key = ${key} WHERE account_id = ${accountId} AND id = ${id}`);
}
