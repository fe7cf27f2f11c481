import sql, { raw } from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import { findRows, walkRows, type Walk } from "../../platform/db/index-walk.ts";
import { normalize } from "../../platform/folding.ts";
import type { Position } from "../../platform/http/paging.ts";
import { invalidAt } from "../../platform/problem.ts";
import { petColumns, storedPet, type PetRow } from "./pets.store.ts";
import type { Pet, PetQuery } from "./pets.ts";

/** Whether a list has a filter by where its pets came from. */
export function asksForOrigin({ import: importId, source, sourceId }: PetQuery): boolean {
  return importId !== undefined || source !== undefined || sourceId !== undefined;
}

/** @throws Problem `invalid_request` for filters that exclude each other */
export function requireOriginQuery({ source, sourceId, id, q, sort }: PetQuery): void {
  if (sourceId && source === undefined) throw invalidAt("query.source", "is required beside sourceId");
  if (sourceId || id) return;
  if (q !== undefined) throw invalidAt("query.q", "must not be given beside import or source");
  if (sort === "name" || sort === "-name") throw invalidAt("query.sort", "must be id or -id beside import or source");
}

/** The rows of an import or source: a table with an index of `account_id`, one column that equals `value`, and `pet_id`. */
type Origin = { table: string; column: string; index?: string; value: number };

/** Where the pets of a query came from. Undefined if there is no such source, or if the import is of another one, so that no pet passes. */
async function originOf(
  db: Database,
  accountId: number,
  { import: importId, source }: PetQuery,
): Promise<{ of: Origin; source?: number } | undefined> {
  const ofImport = importId === undefined ? undefined : { table: "import_changes", column: "import_id", value: importId };
  if (source === undefined) return ofImport && { of: ofImport };
  const [found] = await db.query<{ id: number }>(
    sql`SELECT id FROM import_sources WHERE account_id = ${accountId} AND name_key = ${normalize(source)}`,
  );
  if (!found) return undefined;
  if (!ofImport)
    return { of: { table: "imported_pets", column: "source_id", index: "imported_pets_by_pet", value: found.id }, source: found.id };
  const own = await db.query(
    sql`SELECT 1 FROM imports WHERE account_id = ${accountId} AND id = ${ofImport.value} AND source_id = ${found.id}`,
  );
  return own.length === 0 ? undefined : { of: ofImport, source: found.id };
}

/** Returns which of the pets that a query names, by `id` or `sourceId`, came from its import and source. */
export async function idsFromOrigin(db: Database, accountId: number, query: PetQuery): Promise<number[]> {
  const origin = await originOf(db, accountId, query);
  if (!origin) return [];
  const { id, sourceId } = query;
  const { column, ...of } = origin.of;
  const lookUp = (index: { table: string; equal: Record<string, number>; key: string }, keys: readonly (number | string)[]) =>
    db.query<{ pet_id: number }>(findRows(db.engine, { ...index, columns: raw("pet_id"), accountId }, keys));
  const named = sourceId && (await lookUp({ table: "imported_pets", equal: { source_id: origin.source! }, key: "row_id" }, sourceId));
  const ids = id && named ? id.filter((one) => named.some((row) => row.pet_id === one)) : (id ?? named!.map((row) => row.pet_id));
  return (await lookUp({ table: of.table, equal: { [column]: of.value }, key: "pet_id" }, ids)).map((row) => row.pet_id);
}

/** The most rows that one step of a list reads. */
const stepMax = 500;

/**
 * Returns up to `limit` pets that came from an import or source and pass the other filters, after a position. Rows whose pets are gone or do not
 * pass are read too, so it reads in steps, in turn with other accounts.
 */
export async function listImportedPets(
  db: Database,
  accountId: number,
  query: PetQuery,
  after: Position | undefined,
  limit: number,
): Promise<Pet[]> {
  const origin = await originOf(db, accountId, query);
  if (!origin) return [];
  const { column, value, ...of } = origin.of;
  const isBackwards = query.sort === "-id";
  const walk: Walk = { ...of, columns: raw("pet_id"), accountId, equal: { [column]: value }, order: ["pet_id"] };
  const passes = ({ categoryId, status }: Pet): boolean =>
    (query.categoryId === undefined || query.categoryId === categoryId) && (!query.status || query.status.includes(status));
  const found: Pet[] = [];
  for (let [position, rows] = [after, limit]; ; rows = stepMax) {
    const bounds = isBackwards ? { isBackwards, until: position?.[0] } : { after: position };
    const step = walkRows(db.engine, { ...walk, ...bounds }, rows);
    const ids = (await db.scan(() => db.query<{ pet_id: number }>(step))).map((row) => row.pet_id);
    const pets = await petsOf(db, accountId, ids);
    found.push(...ids.flatMap((id) => pets.get(id) ?? []).filter(passes));
    if (found.length >= limit || ids.length < rows) return found.slice(0, limit);
    position = [ids.at(-1)!];
  }
}

async function petsOf(db: Database, accountId: number, ids: readonly number[]): Promise<Map<number, Pet>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<PetRow>(findRows(db.engine, { table: "pets", columns: petColumns, accountId, key: "id" }, ids));
  return new Map(rows.map((row) => [row.id, storedPet(row).pet]));
}
