import sql, { join, raw } from "sql-template-tag";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { findRows, walkRows } from "../../platform/db/index-walk.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import type { PetChange } from "../pets/pets.ts";
import type { ProfileValues } from "../profiles/profile-values.store.ts";
import type { UrlOf } from "../profiles/profiles.ts";
import type { RowValues } from "./imports.ts";

/** The import that rows belong to. */
export type ImportContext = {
  engine: Database["engine"];
  accountId: number;
  importId: number;
  sourceId: number;
  urlOf: UrlOf;
  now: number;
};

/** What a source's row said last, the pet that it is, and the import that wrote this. */
export type KnownRow = { petId: number; importId: number; values: RowValues };

/**
 * How things were before an import changed them. A part that is left out did not change. A null `quantity` stands for untracked, and a null
 * `profile` for none. `versions` are those from before.
 */
export type PriorState = {
  versions?: Versions;
  row?: KnownRow;
  pet?: Partial<PetChange>;
  quantity?: number | null;
  profile?: ProfileValues | null;
};

/** The versions of a pet, its inventory entry and its profile. */
export type Versions = Record<"pet" | "stock" | "profile", number | null>;

/** What an import did to a pet. The versions are those after the import, null of what it did not write. */
export type Change = { petId: number; rowId: string; isNew: boolean; prior: PriorState; versions: Versions };

/**
 * Recorded instead of a version if somebody else changed the part between two rows of the same import: it matches no version, so undo leaves the
 * part.
 */
const changedBetween = 0;

const upsertRows = statementOfRows(`
  INSERT INTO imported_pets (account_id, source_id, row_id, pet_id, import_id, row_values)
  SELECT CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), said.value ->> 0, CAST(said.value ->> 1 AS BIGINT), CAST(said.value ->> 2 AS BIGINT),
    said.value ->> 3
  FROM ROWS AS said WHERE TRUE
  ON CONFLICT (account_id, source_id, row_id) DO UPDATE SET
    pet_id = excluded.pet_id, import_id = excluded.import_id, row_values = excluded.row_values`);
const upsertChanges = statementOfRows(`
  INSERT INTO import_changes (account_id, import_id, pet_id, row_id, is_new, prior, pet_version, stock_version, profile_version)
  SELECT CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), CAST(done.value ->> 0 AS BIGINT), done.value ->> 1, CAST(done.value ->> 2 AS BOOLEAN),
    done.value ->> 3, CAST(done.value ->> 4 AS BIGINT), CAST(done.value ->> 5 AS BIGINT), CAST(done.value ->> 6 AS BIGINT)
  FROM ROWS AS done WHERE TRUE
  ON CONFLICT (account_id, import_id, pet_id) DO UPDATE SET
    prior = excluded.prior, pet_version = excluded.pet_version, stock_version = excluded.stock_version,
    profile_version = excluded.profile_version`);

const changeColumns = raw("pet_id, row_id, is_new, prior, pet_version, stock_version, profile_version");

/** The most rows of one statement. */
const rowsAtOnceMax = 250;

/** Returns what these rows of a source said last, by their identifiers. */
export async function findKnown(
  tx: Transaction,
  { engine, accountId, sourceId }: ImportContext,
  rowIds: readonly string[],
): Promise<Map<string, KnownRow>> {
  const columns = raw("row_id, pet_id, import_id, row_values");
  const lookUp = { table: "imported_pets", columns, accountId, equal: { source_id: sourceId }, key: "row_id" };
  const found = await tx.query<{ row_id: string; pet_id: number; import_id: number; row_values: string }>(findRows(engine, lookUp, rowIds));
  return new Map(
    found.map((row) => [row.row_id, { petId: row.pet_id, importId: row.import_id, values: JSON.parse(row.row_values) as RowValues }]),
  );
}

/** Returns which of these pets a row of the source is. */
export async function findTaken(tx: Transaction, { accountId, sourceId }: ImportContext, petIds: readonly number[]): Promise<Set<number>> {
  const rows = await tx.query<{ pet_id: number }>(sql`
    SELECT pet_id FROM imported_pets
    WHERE account_id = ${accountId} AND source_id = ${sourceId} AND pet_id IN (${join([...petIds])})`);
  return new Set(rows.map(({ pet_id: petId }) => petId));
}

/** Returns the imports from other sources that wrote rows of these pets last. */
export async function findOtherImports(
  tx: Transaction,
  { accountId, sourceId }: ImportContext,
  petIds: readonly number[],
): Promise<{ petId: number; importId: number }[]> {
  if (petIds.length === 0) return [];
  const sources = await tx.query<{ id: number }>(sql`SELECT id FROM import_sources WHERE account_id = ${accountId} AND id <> ${sourceId}`);
  if (sources.length === 0) return [];
  const rows = await tx.query<{ pet_id: number; import_id: number }>(sql`
    SELECT pet_id, import_id FROM imported_pets
    WHERE account_id = ${accountId} AND source_id IN (${join(sources.map(({ id }) => id))}) AND pet_id IN (${join([...petIds])})`);
  return rows.map((row) => ({ petId: row.pet_id, importId: row.import_id }));
}

/** Keeps what rows said. */
export async function saveKnown(
  tx: Transaction,
  accountId: number,
  sourceId: number,
  rows: readonly { rowId: string; known: KnownRow }[],
): Promise<void> {
  const said = rows.map(({ rowId, known: { petId, importId, values } }) => [rowId, petId, importId, JSON.stringify(values)]);
  for (let from = 0; from < said.length; from += rowsAtOnceMax)
    await tx.run(upsertRows, [JSON.stringify(said.slice(from, from + rowsAtOnceMax)), accountId, sourceId]);
}

/** Forgets rows of a source. */
export async function deleteKnown(tx: Transaction, { accountId, sourceId }: ImportContext, rowIds: readonly string[]): Promise<void> {
  if (rowIds.length === 0) return;
  await tx.query(
    sql`DELETE FROM imported_pets WHERE account_id = ${accountId} AND source_id = ${sourceId} AND row_id IN (${join([...rowIds])})`,
  );
}

type ChangeRow = {
  pet_id: number;
  row_id: string;
  is_new: boolean | number;
  prior: string | null;
  pet_version: number | null;
  stock_version: number | null;
  profile_version: number | null;
};

/** Returns what an import has done to these pets so far, by pet. */
export async function findChanges(
  tx: Transaction,
  accountId: number,
  importId: number,
  petIds: readonly number[],
): Promise<Map<number, Change>> {
  if (petIds.length === 0) return new Map();
  const rows = await tx.query<ChangeRow>(sql`
    SELECT ${changeColumns} FROM import_changes
    WHERE account_id = ${accountId} AND import_id = ${importId} AND pet_id IN (${join([...petIds])})`);
  return new Map(rows.map((row) => [row.pet_id, changeOf(row)]));
}

function changeOf({ pet_id: petId, row_id: rowId, is_new: isNew, prior, ...row }: ChangeRow): Change {
  const versions = { pet: row.pet_version, stock: row.stock_version, profile: row.profile_version };
  return { petId, rowId, isNew: Boolean(isNew), prior: prior === null ? {} : (JSON.parse(prior) as PriorState), versions };
}

/** Saves what an import did. */
export async function saveChanges(tx: Transaction, accountId: number, importId: number, changes: readonly Change[]): Promise<void> {
  const done = changes.map(({ petId, rowId, isNew, prior, versions }) => [
    petId,
    rowId,
    isNew,
    Object.keys(prior).length === 0 ? null : JSON.stringify(prior),
    versions.pet,
    versions.stock,
    versions.profile,
  ]);
  for (let from = 0; from < done.length; from += rowsAtOnceMax)
    await tx.run(upsertChanges, [JSON.stringify(done.slice(from, from + rowsAtOnceMax)), accountId, importId]);
}

/** Returns the first pets that an import changed, in the order of their identifiers. */
export async function firstChanges(tx: Transaction, { engine, accountId, importId }: ImportContext, limit: number): Promise<Change[]> {
  const walk = { table: "import_changes", columns: changeColumns, accountId, equal: { import_id: importId }, order: ["pet_id"] };
  return (await tx.query<ChangeRow>(walkRows(engine, walk, limit))).map(changeOf);
}

/** Deletes what an import did to pets up to one. */
export async function deleteChanges(tx: Transaction, { accountId, importId }: ImportContext, lastPetId: number): Promise<void> {
  await tx.query(sql`DELETE FROM import_changes WHERE account_id = ${accountId} AND import_id = ${importId} AND pet_id <= ${lastPetId}`);
}

/**
 * Adds what a further row of the same import did to what earlier ones did. The earliest prior values count.
 *
 * @param between the versions before the further row
 */
export function afterBoth(earlier: Change | undefined, later: Change, between: Versions): Change {
  if (!earlier) return later;
  const left = (part: keyof Versions): number | null => {
    const [was, now] = [earlier.versions[part], later.versions[part]];
    if (now === null) return was;
    return was !== null && was !== between[part] ? changedBetween : now;
  };
  return {
    ...earlier,
    prior: { ...later.prior, ...earlier.prior, ...(later.prior.pet && { pet: { ...later.prior.pet, ...earlier.prior.pet } }) },
    versions: { pet: left("pet"), stock: left("stock"), profile: left("profile") },
  };
}
