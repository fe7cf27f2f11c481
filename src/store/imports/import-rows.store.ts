import type { Transaction } from "../../platform/db/database.ts";
import { int32Max } from "../../platform/http/schemas.ts";
import { invalidAt } from "../../platform/problem.ts";
import { addEntries, lockPetsWithEntries, type PetsWithEntries, setCounts } from "../inventory/inventory.store.ts";
import { statusOfStock } from "../inventory/inventory.ts";
import { insertPets, requireCategories, updatePets, type StoredPet } from "../pets/pets.store.ts";
import { statusDefault, type Pet } from "../pets/pets.ts";
import { factsOf } from "../profiles/facts.ts";
import { priorProfile, writeProfileValues, type WrittenProfile } from "../profiles/profile-values.store.ts";
import {
  afterBoth,
  findChanges,
  findKnown,
  findTaken,
  saveChanges,
  saveKnown,
  type Change,
  type ImportContext,
  type KnownRow,
  type PriorState,
} from "./import-changes.store.ts";
import { queuePhotos } from "./import-photos.store.ts";
import {
  newPhotos,
  newValues,
  requireDistinctIds,
  valuesAfter,
  valuesOf,
  type ImportedRow,
  type ImportRow,
  type RowValues,
} from "./imports.ts";

/** A row at its place in the request, with what the source's row said last, if it is known. */
type PlacedRow = {
  index: number;
  rowId: string;
  values: RowValues;
  profile: NonNullable<ImportRow["profile"]>;
  known: KnownRow | undefined;
  isCounted: boolean;
  fresh: Partial<RowValues>;
};

/**
 * Imports rows of a locked import: makes the pets of new rows, and writes what known rows say differently from the last time. What the shop
 * changed in the meantime stays, unless the source changed it too. Returns what became of each row, in their order.
 *
 * @throws Problem `unknown_reference`, `invalid_request` or `storage_limit_reached`; then nothing has changed
 */
export async function importRows(tx: Transaction, importing: ImportContext, rows: readonly ImportRow[]): Promise<ImportedRow[]> {
  if (rows.length === 0) return [];
  requireDistinctIds(rows);
  const { accountId } = importing;
  const known = await findKnown(
    tx,
    importing,
    rows.map((row) => row.sourceId),
  );
  await adoptPets(tx, importing, rows, known);
  for (const [index, row] of rows.entries()) if (row.previous) known.set(row.sourceId, editedOf(row, index, known.get(row.sourceId)));
  const placed = rows.map((row, index): PlacedRow => {
    const before = known.get(row.sourceId);
    const values = valuesAfter(before?.values, valuesOf(row));
    const fresh = before ? newValues(before.values, values) : values;
    const isCounted = row.quantity !== undefined;
    return { index, rowId: row.sourceId, values, profile: row.profile ?? {}, known: before, isCounted, fresh };
  });
  const differing = placed.filter(({ known: before, fresh }) => before && Object.keys(fresh).length > 0);
  const locked = await lockPetsWithEntries(
    tx,
    accountId,
    differing.map(({ known: before }) => before!.petId),
  );
  const isThere = ({ known: before }: PlacedRow): boolean => before !== undefined && locked.pets.has(before.petId);
  for (const row of differing)
    if (rows[row.index]!.previous && !isThere(row)) throw invalidAt(`body[${row.index}].petId`, "is no pet of this shop any more");
  const updated = await updateRows(tx, importing, differing.filter(isThere), locked);
  const made = await makePets(
    tx,
    importing,
    placed.filter((row) => !row.known || (Object.keys(row.fresh).length > 0 && !isThere(row))),
  );
  return placed.map(({ index, rowId, known: before }): ImportedRow => {
    const madeId = made.get(index);
    if (madeId !== undefined) return { sourceId: rowId, petId: madeId, outcome: "created" };
    return { sourceId: rowId, petId: before!.petId, outcome: updated.has(index) ? "updated" : "unchanged" };
  });
}

/** Takes pets for rows that the source does not know yet, unless another of its rows is that pet. Adds them to the known ones. */
async function adoptPets(
  tx: Transaction,
  importing: ImportContext,
  rows: readonly ImportRow[],
  known: Map<string, KnownRow>,
): Promise<void> {
  const asked = rows.flatMap((row) => (row.petId === undefined || known.has(row.sourceId) ? [] : [{ row, petId: row.petId }]));
  if (asked.length === 0) return;
  const { accountId, sourceId, importId } = importing;
  const taken = await findTaken(
    tx,
    importing,
    asked.map(({ petId }) => petId),
  );
  const adopted = asked
    .filter(({ petId }) => !taken.has(petId))
    .map(({ row, petId }) => ({ rowId: row.sourceId, known: { petId, importId, values: valuesOf(row) } }));
  await saveKnown(tx, accountId, sourceId, adopted);
  for (const { rowId, known: one } of adopted) known.set(rowId, one);
}

/** What an edited row said before the edit: the pet as it was then, without its stock and its profile. */
function editedOf({ petId, sourceId, previous }: ImportRow, index: number, known: KnownRow | undefined): KnownRow {
  if (petId === undefined) throw invalidAt(`body[${index}].petId`, "is needed with `previous`");
  if (known?.petId !== petId) throw invalidAt(`body[${index}].petId`, "is not the pet of this row");
  return { ...known, values: valuesOf({ sourceId, pet: previous! }) };
}

/** Makes the pets of rows that have none. Returns their identifiers by the places of the rows. */
async function makePets(tx: Transaction, importing: ImportContext, rows: readonly PlacedRow[]): Promise<Map<number, number>> {
  if (rows.length === 0) return new Map();
  const { accountId, importId, sourceId } = importing;
  const wanted = rows.map(({ values: { name, categoryId, status = statusDefault, quantity } }) => ({
    name,
    categoryId,
    status: quantity === undefined ? status : statusOfStock({ quantity, held: 0 }),
  }));
  const pets = await insertPets(tx, accountId, wanted, (i) => `body[${rows[i]!.index}].pet`);
  const counts = rows.flatMap(({ values: { quantity } }, i) => (quantity === undefined ? [] : [{ petId: pets[i]!.id, quantity }]));
  await addEntries(tx, accountId, counts);
  const own = rows.map((row, i) => ({ petId: pets[i]!.id, row: { ...row, fresh: row.values, known: undefined } })); // all of it is new to the pet
  const described = await writeProfiles(tx, importing, own);
  await queueRowPhotos(tx, importing, own);
  const said = rows.map(({ rowId, values }, i) => ({ rowId, known: { petId: pets[i]!.id, importId, values } }));
  await saveKnown(tx, accountId, sourceId, said);
  const changes = rows.map(({ rowId, values, known }, i): Change => {
    const prior = known ? { row: known } : {}; // its pet was deleted
    const petId = pets[i]!.id;
    const versions = { pet: 1, stock: values.quantity === undefined ? null : 1, profile: described.get(petId)?.version ?? null };
    return { petId, rowId, isNew: true, prior, versions };
  });
  await saveChanges(tx, accountId, importId, changes);
  return new Map(rows.map(({ index }, i) => [index, pets[i]!.id]));
}

/** Writes new values of the rows to the profiles of their pets, which are new or locked. */
function writeProfiles(
  tx: Transaction,
  importing: ImportContext,
  rows: readonly { petId: number; row: PlacedRow }[],
): Promise<Map<number, WrittenProfile>> {
  const wanted = rows.flatMap(({ petId, row: { index, fresh, profile } }) => {
    const values = {
      ...(fresh.description !== undefined && { description: profile.description! }),
      ...(fresh.price !== undefined && { price: profile.price! }),
      ...(fresh.facts !== undefined && { addedFacts: factsOf(profile.facts!, `body[${index}].profile.facts`) }),
    };
    return Object.keys(values).length === 0 ? [] : [{ petId, values }];
  });
  return writeProfileValues(tx, importing, wanted);
}

/** Queues the photos that the rows name for the first time. */
function queueRowPhotos(tx: Transaction, importing: ImportContext, rows: readonly { petId: number; row: PlacedRow }[]): Promise<void> {
  const wanted = rows.flatMap(({ petId, row: { fresh, known, profile } }) => {
    const urls = fresh.photos === undefined ? [] : newPhotos(known?.values, profile.photos ?? []);
    return urls.length === 0 ? [] : [{ petId, urls }];
  });
  return queuePhotos(tx, importing, wanted, importing.now);
}

/** A row of a locked pet, with what becomes of the pet. */
type Update = { row: PlacedRow; current: StoredPet; next: Pet; stock: StockUpdate | undefined };
/** `current` is undefined if the pet becomes tracked. */
type StockUpdate = { current: { item: { quantity: number }; held: number; version: number } | undefined; quantity: number };

/** Writes the fresh values of rows whose pets are locked. Returns the places of the rows that changed their pets. */
async function updateRows(
  tx: Transaction,
  importing: ImportContext,
  rows: readonly PlacedRow[],
  locked: PetsWithEntries,
): Promise<Set<number>> {
  if (rows.length === 0) return new Set();
  const { accountId, importId, sourceId } = importing;
  const moved = rows.filter(({ fresh }) => fresh.categoryId !== undefined);
  await requireCategories(
    tx,
    accountId,
    moved.map(({ values }) => values),
    (i) => `body[${moved[i]!.index}].pet`,
  );
  const updates = rows.map((row) => updateOf(row, locked));
  const pets = updates.filter(
    ({ current: { pet }, next }) => pet.name !== next.name || pet.categoryId !== next.categoryId || pet.status !== next.status,
  );
  const stocks = updates.filter(({ stock }) => stock !== undefined);
  const tracked = stocks.filter(({ stock }) => stock!.current === undefined);
  await setCounts(
    tx,
    accountId,
    stocks.flatMap(({ current, stock }) =>
      stock!.current ? [{ current: locked.entries.get(current.pet.id)!, quantity: stock!.quantity }] : [],
    ),
  );
  await addEntries(
    tx,
    accountId,
    tracked.map(({ current, stock }) => ({ petId: current.pet.id, quantity: stock!.quantity })),
  );
  await updatePets(tx, accountId, pets);
  const own = updates.map(({ row, current }) => ({ petId: current.pet.id, row }));
  const described = await writeProfiles(tx, importing, own);
  await queueRowPhotos(tx, importing, own);
  const written = new Set(pets.map(({ row }) => row.index));
  const earlier = await findChanges(
    tx,
    accountId,
    importId,
    rows.map(({ known }) => known!.petId),
  );
  const changes = updates.map((update) => {
    const { pet, version } = update.current;
    const profile = described.get(pet.id);
    const between = { pet: version, stock: locked.entries.get(pet.id)?.version ?? null, profile: profile?.before?.version ?? null };
    const change = changeOf(update, written.has(update.row.index), profile);
    change.prior.versions = between;
    return afterBoth(earlier.get(pet.id), change, between);
  });
  await saveChanges(tx, accountId, importId, changes);
  const said = rows.map(({ rowId, known, values }) => {
    return { rowId, known: { petId: known!.petId, importId, values: { ...known!.values, ...values } } };
  });
  await saveKnown(tx, accountId, sourceId, said);
  const others = updates.filter(({ stock, current }) => stock !== undefined || described.has(current.pet.id));
  return new Set([...written, ...others.map(({ row }) => row.index)]);
}

/** Returns what becomes of a row's pet. The status of a tracked pet follows its stock, whatever the row says. */
function updateOf(row: PlacedRow, { pets, entries }: PetsWithEntries): Update {
  const current = pets.get(row.known!.petId)!;
  const entry = entries.get(current.pet.id);
  const { quantity, status = current.pet.status, name = current.pet.name, categoryId = current.pet.categoryId } = row.fresh;
  // A row that gives no quantity leaves the stock as it is if the shop has counted or sold units since.
  const isOurs = row.isCounted || entry?.item.quantity === row.known!.values.quantity;
  const stock = quantity === undefined || quantity === entry?.item.quantity || !isOurs ? undefined : { current: entry, quantity };
  const held = entry?.held ?? 0;
  if (stock && stock.quantity + held > int32Max)
    throw invalidAt(`body[${row.index}].quantity`, `must not exceed ${int32Max} together with the units that open orders hold`);
  const following = stock ? statusOfStock({ quantity: stock.quantity, held }) : entry ? current.pet.status : status;
  return { row, current, next: { id: current.pet.id, name, categoryId, status: following }, stock };
}

function changeOf(
  { row, current: { pet, version }, next, stock }: Update,
  isWritten: boolean,
  profile: WrittenProfile | undefined,
): Change {
  const prior: PriorState = { row: row.known! };
  if (isWritten)
    prior.pet = {
      ...(next.name !== pet.name && { name: pet.name }),
      ...(next.categoryId !== pet.categoryId && { categoryId: pet.categoryId }),
      ...(next.status !== pet.status && { status: pet.status }),
    };
  if (stock) prior.quantity = stock.current?.item.quantity ?? null;
  if (profile) prior.profile = profile.before ? priorProfile(profile.before) : null;
  const versions = {
    pet: isWritten ? version + 1 : null,
    stock: stock ? (stock.current?.version ?? 0) + 1 : null,
    profile: profile?.version ?? null,
  };
  return { petId: pet.id, rowId: row.rowId, isNew: false, prior, versions };
}
