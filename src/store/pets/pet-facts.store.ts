import sql, { raw } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { mergeRows, type Walk } from "../../platform/db/index-walk.ts";
import { statement, statementOfRows } from "../../platform/db/statement.ts";
import type { Position } from "../../platform/http/paging.ts";
import { invalidAt } from "../../platform/problem.ts";
import type { FactFilter, FactName } from "./facts.ts";
import { petOfFound } from "./pet-search.store.ts";
import { nameKeyOf, petStatuses, type Pet, type PetQuery, type PetStatus } from "./pets.ts";

/*
 * `facts` has a row for each fact of a pet by which lists filter, with the pet's category and status (decision 0122). Its indexes end with the status
 * and the pet, so a list walks one range for each status that it asks for, and reads no row that it does not show.
 */

/** @throws Problem `invalid_request` for a filter or a sort that a list by a fact does not have */
export function requireFactQuery(query: PetQuery): void {
  for (const other of ["id", "q", "import", "source", "sourceId"] as const)
    if (query[other] !== undefined) throw invalidAt(`query.${other}`, "must not be given beside fact");
  if (query.sort === "name" || query.sort === "-name") throw invalidAt("query.sort", "must be id or -id beside fact");
}

/** Returns up to `limit` pets with a fact that pass the filters by category and status, after a position, in the order of their identifiers. */
export async function listPetsByFact(
  db: Database,
  accountId: number,
  { status = [], categoryId, sort }: Pick<PetQuery, "status" | "categoryId" | "sort">,
  fact: FactFilter,
  after: Position | undefined,
  limit: number,
): Promise<Pet[]> {
  const isBackwards = sort === "-id";
  const statuses = status.length === 0 ? petStatuses : [...new Set(status)];
  const index = categoryId === undefined ? "facts_by_value" : "facts_by_category_value";
  const bounds = isBackwards ? { isBackwards, until: after?.[0] } : { after };
  const walks = statuses.map((one): Walk => {
    const equal = {
      fact: fact.name,
      value_key: factKeyOf(fact),
      ...(categoryId !== undefined && { category_id: categoryId }),
      status: one,
    };
    return { table: "facts", index, columns: raw("account_id, pet_id"), accountId, equal, order: ["pet_id"], ...bounds };
  });
  const rows = await db.query<{ id: number; name: string; category_id: number; status: PetStatus }>(sql`
    SELECT pets.id, pets.name, pets.category_id, pets.status FROM (${mergeRows(db.engine, walks, limit)}) AS found
    ${petOfFound(db.engine, accountId)} ORDER BY found.pet_id${raw(isBackwards ? " DESC" : "")}`);
  return rows.map(({ id, name, category_id: category, status: of }) => ({ id, name, categoryId: category, status: of }));
}

/** Returns the key by which a fact is found: the year of birth, and otherwise the value folded as a name is. */
function factKeyOf({ name, value }: FactFilter): string {
  const text = value.trim();
  return name === "born" ? text.slice(0, 4) : nameKeyOf(text);
}

/** One fact of a pet. */
export type FactRow = FactFilter & { petId: number };

const insertRows = statementOfRows(`
  INSERT INTO facts (account_id, pet_id, fact, value, value_key, category_id, status)
  SELECT pets.account_id, pets.id, said.value ->> 1, said.value ->> 2, said.value ->> 3, pets.category_id, pets.status
  FROM ROWS AS said CROSS JOIN pets WHERE pets.account_id = CAST(?2 AS BIGINT) AND pets.id = CAST(said.value ->> 0 AS BIGINT)`);
const deleteOf = statementOfRows(
  "DELETE FROM facts WHERE account_id = CAST(?2 AS BIGINT) AND pet_id IN (SELECT CAST(gone.value ->> 0 AS BIGINT) FROM ROWS AS gone)",
);
/** The most rows of one statement. */
const rowsAtOnceMax = 250;

/** Replaces the facts of locked pets, which have profiles. */
export async function replaceFacts(
  tx: Transaction,
  accountId: number,
  petIds: readonly number[],
  facts: readonly FactRow[],
): Promise<void> {
  const gone = petIds.map((id) => [id]);
  const said = facts.map((fact) => [fact.petId, fact.name, fact.value, factKeyOf(fact)]);
  for (const [text, rows] of [[deleteOf, gone] as const, [insertRows, said] as const])
    for (let from = 0; from < rows.length; from += rowsAtOnceMax)
      await tx.run(text, [JSON.stringify(rows.slice(from, from + rowsAtOnceMax)), accountId]);
}

/** How many values of a fact one reading looks at. */
const stepsMax = 1_000;

/**
 * Takes one step of an index for each value of a fact: to the first row of the value, and from there to a pet with it that is not sold. The steps are
 * bounded, because nothing bounds how many values only sold pets have.
 */
const valuesOf = (ofCategory: string) =>
  statement<[value: string | null]>(`
  WITH RECURSIVE found (value_key, step) AS (
    SELECT (SELECT MIN(value_key) FROM facts WHERE account_id = ?1 AND fact = ?2), 1
    UNION ALL
    SELECT (SELECT MIN(value_key) FROM facts WHERE account_id = ?1 AND fact = ?2 AND value_key > found.value_key), step + 1
    FROM found WHERE value_key IS NOT NULL AND step < ${stepsMax}
  ) SELECT (SELECT value FROM facts WHERE account_id = ?1 AND fact = ?2 AND facts.value_key = found.value_key
      ${ofCategory} AND status IN ('available', 'pending') LIMIT 1)
  FROM found WHERE value_key IS NOT NULL`);
const valuesOfAll = valuesOf("");
const valuesOfCategory = valuesOf("AND category_id = ?3");

/**
 * Returns up to `most` values of a fact among pets that are not sold, those of a category or of all, in the order of their keys, each as one of these pets
 * spells it; for `born` the year. `isComplete`: whether these are all. Looks at the first thousand values, with those of sold pets.
 */
export async function valuesOfFact(
  db: Queryable,
  accountId: number,
  { name, categoryId }: { name: FactName; categoryId?: number | undefined },
  most: number,
): Promise<{ values: string[]; isComplete: boolean }> {
  const rows = await (categoryId === undefined
    ? db.rows(valuesOfAll, [accountId, name])
    : db.rows(valuesOfCategory, [accountId, name, categoryId]));
  const values = rows.flatMap(([value]) => (value === null ? [] : [name === "born" ? factKeyOf({ name, value }) : value]));
  return { values: values.slice(0, most), isComplete: values.length <= most && rows.length < stepsMax };
}

/** The most rows that one step reads, only values beyond ASCII, which refolding may change. */
const foldedRowsMax = 250;
const updateKeys = statementOfRows(`
  UPDATE facts SET value_key = changed.value ->> 2 FROM ROWS AS changed
  WHERE account_id = CAST(changed.value ->> 3 AS BIGINT) AND pet_id = CAST(changed.value ->> 0 AS BIGINT) AND fact = changed.value ->> 1`);

type UnfoldedFact = { account_id: number; pet_id: number; fact: FactName; value: string; value_key: string };

/** Folds the facts of the pets after a place anew. Returns the place of the last one, and undefined if there are no more. */
export async function foldFacts(
  tx: Transaction,
  accountId: number,
  lastId: number,
): Promise<{ accountId: number; lastId: number } | undefined> {
  const rows = await tx.query<UnfoldedFact>(sql`
    SELECT account_id, pet_id, fact, value, value_key FROM facts
    WHERE (account_id, pet_id) > (${accountId}, ${lastId}) AND octet_length(value) <> length(value)
    ORDER BY account_id, pet_id, fact ${limitTo(foldedRowsMax)}`);
  const last = rows.length < foldedRowsMax ? undefined : rows.at(-1);
  // The next step begins with this pet again if it may have more.
  const whole = last ? rows.filter((row) => row.account_id !== last.account_id || row.pet_id !== last.pet_id) : rows;
  const stale = whole.flatMap((row) => {
    const key = factKeyOf({ name: row.fact, value: row.value });
    return key === row.value_key ? [] : [[row.pet_id, row.fact, key, row.account_id]];
  });
  if (stale.length > 0) await tx.run(updateKeys, [JSON.stringify(stale)]);
  return last && { accountId: last.account_id, lastId: last.pet_id - 1 };
}
