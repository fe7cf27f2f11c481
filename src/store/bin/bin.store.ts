import sql, { empty, join, raw } from "sql-template-tag";
import { limitTo, openStep, stepRowsMax } from "../../platform/db/batches.ts";
import { breaks, type Database, type Transaction } from "../../platform/db/database.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { countMovedBytes, removeRecords } from "../../platform/storage-quotas.ts";
import { addEntries } from "../inventory/inventory.store.ts";
import { replaceFacts } from "../pets/pet-facts.store.ts";
import { deletePetRow, hasOpenOrder, inUse, petExists, returnPet, type PetWithEntry } from "../pets/pets.store.ts";
import type { PetStatus } from "../pets/pets.ts";
import { factRowsOf } from "../profiles/facts.ts";
import { findProfile, recordProfile } from "../profiles/profiles.store.ts";
import type { UrlOf } from "../profiles/profiles.ts";
import { type BinChange, type Binned, type BinResult, keptMs, timesOf } from "./bin.ts";

/*
 * The bin has the animals that members deleted in the dashboard (specification 2.11, decision 0128). A binned animal has left `pets` and every table that
 * refers to it, so no query over pets knows the bin. It stays a record of the account, and its photos stay published bytes. To lock a row of the bin
 * and a pet, lock the bin's row first; several rows by `pet_id`.
 */

type Shop = { accountId: number; urlOf: UrlOf };

/** The columns that the bin shares with `photos`, and with `photo_files`. */
const photoColumns = raw("place, alt, focus_x, focus_y");
const formColumns = raw("type, width, height, hash, bytes");

/**
 * Moves a pet that `lockPetWithEntry` has locked into the bin, with the events of its deletion.
 *
 * @throws Problem `pet_in_use` while an unfulfilled order is for this pet
 */
export async function binPet(tx: Transaction, accountId: number, current: PetWithEntry, now: number): Promise<void> {
  const { id } = current.pet;
  if (await hasOpenOrder(tx, accountId, id)) throw inUse(id);
  await tx.query(sql`
    INSERT INTO bin (account_id, pet_id, deleted_at, name, category_id, status, version, quantity, stock_version, stock_highest,
      description, price_amount, price_currency, facts, profile_version)
    SELECT pets.account_id, pets.id, ${now}, name, category_id, pets.status, pets.version, quantity, inventory.version, highest,
      description, price_amount, price_currency, facts, profiles.version
    FROM pets LEFT JOIN inventory ON inventory.account_id = pets.account_id AND inventory.pet_id = pets.id
    LEFT JOIN profiles ON profiles.account_id = pets.account_id AND profiles.pet_id = pets.id
    WHERE pets.account_id = ${accountId} AND pets.id = ${id}`);
  const moved = await tx.query<{ bytes: number }>(sql`
    INSERT INTO bin_photo_files (account_id, pet_id, photo_id, ${photoColumns}, ${formColumns})
    SELECT photos.account_id, pet_id, photo_id, ${photoColumns}, ${formColumns}
    FROM photos JOIN photo_files ON photo_files.account_id = photos.account_id AND photo_files.photo_id = photos.id
    WHERE photos.account_id = ${accountId} AND pet_id = ${id} RETURNING bytes`);
  // An order that was placed between the check and the deletion: the copies must go too.
  if (!(await deletePetRow(tx, accountId, current))) tx.startOver();
  await countMovedBytes(tx, accountId, bytesOf(moved));
}

function bytesOf(rows: readonly { bytes: number }[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

type ListedRow = {
  pet_id: number;
  name: string;
  category_id: number;
  status: PetStatus;
  quantity: number | null;
  price_amount: number | null;
  price_currency: string | null;
  deleted_at: number;
};

/** The place of an animal in the list: when it was deleted (ms), and its identifier. */
export type BinPlace = { deletedAt: number; id: number };

/** Returns up to `limit` animals in the bin after a place, those that were deleted last first, each with its place. */
export async function listBin(
  db: Database,
  { accountId, urlOf }: Shop,
  after: BinPlace | undefined,
  limit: number,
): Promise<{ animal: Binned; place: BinPlace }[]> {
  const isAfter = after ? sql`AND (deleted_at, pet_id) < (${after.deletedAt}, ${after.id})` : empty;
  const rows = await db.query<ListedRow>(sql`
    SELECT pet_id, name, category_id, status, quantity, price_amount, price_currency, deleted_at FROM bin
    WHERE account_id = ${accountId} ${isAfter} ORDER BY deleted_at DESC, pet_id DESC ${limitTo(limit)}`);
  const pictures = await readPictures(
    db,
    accountId,
    rows.map((row) => row.pet_id),
  );
  return rows.map(({ pet_id: id, name, category_id: categoryId, status, quantity: stock, ...row }) => {
    const { price_amount: amount, price_currency: currency, deleted_at: deletedAt } = row;
    const form = pictures.get(id);
    const price = amount === null || currency === null ? null : { amount, currency };
    const photo = form ? { url: urlOf(form) } : null;
    return { animal: { id, name, categoryId, status, stock, price, photo, ...timesOf(deletedAt) }, place: { deletedAt, id } };
  });
}

type PictureRow = { pet_id: number; type: string; width: number; height: number; hash: string };

/** Returns the smallest WebP picture of the first photo of these animals. */
async function readPictures(db: Database, accountId: number, petIds: readonly number[]): Promise<Map<number, PictureRow>> {
  if (petIds.length === 0) return new Map();
  const rows = await db.query<PictureRow>(sql`
    SELECT pet_id, type, width, height, hash FROM bin_photo_files
    WHERE account_id = ${accountId} AND pet_id IN (${join([...petIds])}) AND type = 'image/webp'
    ORDER BY pet_id, place DESC, photo_id DESC, width DESC`);
  return new Map(rows.map((row) => [row.pet_id, row])); // the last of an animal is of its first photo, and the smallest
}

/** The animals of a step, whose rows are locked, and which of the wanted categories exist. */
type LockedBin = { rows: Map<number, LockedRow>; categories: ReadonlySet<number> };
type LockedRow = {
  pet_id: number;
  name: string;
  category_id: number;
  status: PetStatus;
  version: number;
  quantity: number | null;
  stock_version: number | null;
  stock_highest: number | null;
  profile_version: number | null;
};

/**
 * Returns the first of these animals, or deletes them for good, as many as one step takes, with a result for each. A refused change has no effect and does not
 * stop the others.
 */
export async function changeBin(tx: Transaction, shop: Shop, changes: readonly BinChange[]): Promise<BinResult[]> {
  const isOver = openStep();
  const some = changes.slice(0, stepRowsMax);
  const locked = await lock(tx, shop.accountId, some);
  const results: BinResult[] = [];
  for (const change of some) {
    results.push(await changeOne(tx, shop, change, locked));
    if (isOver()) break;
    await tx.giveTurn();
  }
  return results;
}

export function refused(id: number, { code, message }: Problem): BinResult {
  return { id, outcome: "refused", code, message };
}

async function lock(tx: Transaction, accountId: number, changes: readonly BinChange[]): Promise<LockedBin> {
  const found = await tx.query<LockedRow>(sql`
    SELECT pet_id, name, category_id, status, version, quantity, stock_version, stock_highest, profile_version FROM bin
    WHERE account_id = ${accountId} AND pet_id IN (${join(changes.map(({ id }) => id))}) ORDER BY pet_id${tx.forUpdate}`);
  const rows = new Map(found.map((row) => [row.pet_id, row]));
  const wanted = new Set(changes.flatMap(({ id, categoryId }) => categoryId ?? rows.get(id)?.category_id ?? []));
  const categories =
    wanted.size === 0
      ? []
      : await tx.query<{ id: number }>(sql`SELECT id FROM categories WHERE account_id = ${accountId} AND id IN (${join([...wanted])})`);
  return { rows, categories: new Set(categories.map(({ id }) => id)) };
}

async function changeOne(tx: Transaction, shop: Shop, change: BinChange, { rows, categories }: LockedBin): Promise<BinResult> {
  const { accountId } = shop;
  const { id, action } = change;
  const row = rows.get(id);
  if (!row) return changeAbsent(tx, accountId, change);
  const { name } = row;
  if (action === "delete") {
    await deleteRows(tx, accountId, [id]);
    return { id, outcome: "deleted", name };
  }
  const categoryId = change.categoryId ?? row.category_id;
  if (!categories.has(categoryId))
    return { ...refused(id, new Problem("unknown_reference", `There is no ${byId("category", categoryId)}.`)), name };
  if (await petExists(tx, accountId, id)) {
    const message = `There is a pet with identifier ${id}, so the one in the bin cannot return.`;
    return { ...refused(id, new Problem("invalid_request", message)), name };
  }
  await returnRow(tx, shop, { ...row, category_id: categoryId });
  return { id, outcome: "returned", name };
}

/** The result for an animal that is not in the bin. A repeated change is no fault: its animal has returned, or is gone, as it asks. */
async function changeAbsent(tx: Transaction, accountId: number, { id, action }: BinChange): Promise<BinResult> {
  const isThere = await petExists(tx, accountId, id);
  if (isThere === (action === "return")) return { id, outcome: "unchanged" };
  const where = isThere ? " any more: it has returned" : "";
  return refused(id, new Problem("not_found", `${byId("Pet", id)} is not in the bin${where}.`));
}

async function returnRow(tx: Transaction, { accountId, urlOf }: Shop, row: LockedRow): Promise<void> {
  const { pet_id: id, name, category_id: categoryId, status, version, quantity, stock_version: stockVersion, stock_highest: highest } = row;
  try {
    await returnPet(tx, accountId, { pet: { id, name, categoryId, status }, version: version + 1 });
  } catch (error) {
    // PostgreSQL ends a transaction whose statement failed: the category that was found was deleted meanwhile.
    if (breaks("foreign_key", error)) tx.startOver();
    throw error;
  }
  if (quantity !== null) {
    // a count that never changed is the highest, also where a node of 1.2.0 recorded none
    const known = stockVersion === 1 ? quantity : highest;
    await addEntries(tx, accountId, [{ petId: id, quantity, version: (stockVersion ?? 0) + 1, highest: known }]);
  }
  const bytes = row.profile_version === null ? 0 : await returnProfile(tx, accountId, id, urlOf);
  await tx.query(sql`DELETE FROM bin WHERE account_id = ${accountId} AND pet_id = ${id}`);
  await countMovedBytes(tx, accountId, bytes);
}

/** Returns the profile of a pet that has returned, with its photos, and returns the bytes of these. */
async function returnProfile(tx: Transaction, accountId: number, petId: number, urlOf: UrlOf): Promise<number> {
  const ofPet = sql`account_id = ${accountId} AND pet_id = ${petId}`;
  await tx.query(sql`
    INSERT INTO profiles (account_id, pet_id, description, price_amount, price_currency, facts, version)
    SELECT account_id, pet_id, description, price_amount, price_currency, facts, profile_version + 1 FROM bin WHERE ${ofPet}`);
  await tx.query(sql`
    INSERT INTO photos (account_id, id, pet_id, ${photoColumns})
    SELECT DISTINCT account_id, photo_id, pet_id, ${photoColumns} FROM bin_photo_files WHERE ${ofPet}`);
  const moved = await tx.query<{ bytes: number }>(sql`
    INSERT INTO photo_files (account_id, photo_id, ${formColumns})
    SELECT account_id, photo_id, ${formColumns} FROM bin_photo_files WHERE ${ofPet} RETURNING bytes`);
  const profile = await findProfile(tx, accountId, petId);
  if (!profile) throw new Error(`the profile of pet ${petId} has not returned`);
  await replaceFacts(tx, accountId, [], factRowsOf(petId, profile.facts));
  recordProfile(tx, accountId, urlOf, undefined, profile);
  return bytesOf(moved);
}

/** Deletes rows of the bin for good, in the common order if the caller has not locked them. Their photos go with them. */
async function deleteRows(tx: Transaction, accountId: number, petIds: readonly number[]): Promise<void> {
  if (petIds.length === 0) return;
  await tx.query(sql`DELETE FROM bin WHERE account_id = ${accountId} AND pet_id IN (${join([...petIds])})`);
  await removeRecords(tx, accountId, petIds.length);
}

/** Deletes the animals for good whose time in the bin is over, some of an account in each transaction. */
export async function expireBin(db: Database, now: number): Promise<void> {
  const before = now - keptMs;
  for (;;) {
    const some = sql`SELECT account_id, pet_id FROM bin WHERE deleted_at <= ${before} ORDER BY deleted_at ${limitTo(stepRowsMax)}`;
    const due = await db.scan(() => db.query<{ account_id: number; pet_id: number }>(some));
    for (const [accountId, own] of Map.groupBy(due, (row) => row.account_id)) {
      const ids = join(own.map((row) => row.pet_id));
      await db.write(async (tx) => {
        const still = await tx.query<{ pet_id: number }>(sql`
          SELECT pet_id FROM bin WHERE account_id = ${accountId} AND pet_id IN (${ids}) AND deleted_at <= ${before}
          ORDER BY pet_id${tx.forUpdate}`);
        await deleteRows(
          tx,
          accountId,
          still.map((row) => row.pet_id),
        );
      });
    }
    if (due.length < stepRowsMax) return;
  }
}
