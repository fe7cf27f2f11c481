import sql, { empty, join } from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import { fieldsBefore } from "../../platform/events.ts";
import { attempt } from "../../platform/parse.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { replaceFacts } from "../pets/pet-facts.store.ts";
import { type Facts, factRowsOf, isFacts } from "./facts.ts";
import { emptyProfile, photosMax, shownProfile, type PhotoFields, type StoredPhoto, type StoredProfile, type UrlOf } from "./profiles.ts";

type ProfileRow = {
  pet_id: number;
  description: string | null;
  price_amount: number | null;
  price_currency: string | null;
  facts: string | null;
  version: number;
};
type FormRow = {
  id: number;
  pet_id: number;
  alt: string;
  focus_x: number | null;
  focus_y: number | null;
  type: string;
  width: number;
  height: number;
  hash: string;
};

const columns = sql`pet_id, description, price_amount, price_currency, facts, version`;

/** Returns undefined if the pet has no profile. */
export async function findProfile(db: Queryable, accountId: number, petId: number): Promise<StoredProfile | undefined> {
  return (await findProfiles(db, accountId, [petId])).get(petId);
}

/** Returns the profiles of these pets, by pet id. */
export async function findProfiles(db: Queryable, accountId: number, petIds: readonly number[]): Promise<Map<number, StoredProfile>> {
  if (petIds.length === 0) return new Map();
  const profiles = await db.query<ProfileRow>(
    sql`SELECT ${columns} FROM profiles WHERE account_id = ${accountId} AND pet_id IN (${join([...petIds])})`,
  );
  if (profiles.length === 0) return new Map();
  const forms = await db.query<FormRow>(sql`
    SELECT photos.id, photos.pet_id, photos.alt, focus_x, focus_y, photo_files.type, photo_files.width, photo_files.height, photo_files.hash
    FROM photos JOIN photo_files ON photo_files.account_id = photos.account_id AND photo_files.photo_id = photos.id
    WHERE photos.account_id = ${accountId} AND photos.pet_id IN (${join(profiles.map((row) => row.pet_id))})
    ORDER BY photos.pet_id, photos.place, photos.id, photo_files.type, photo_files.width`);
  const byPet = Map.groupBy(forms, (row) => row.pet_id);
  return new Map(profiles.map((row) => [row.pet_id, profileOf(db, row, byPet.get(row.pet_id) ?? [])]));
}

/** Records that a profile was created, changed or deleted. */
export function recordProfile(
  tx: Transaction,
  accountId: number,
  urlOf: UrlOf,
  before: StoredProfile | undefined,
  after: StoredProfile,
): void {
  const data = shownProfile(after, urlOf);
  const previous = fieldsBefore(before ? shownProfile(before, urlOf) : { petId: after.petId, photos: [] }, data);
  tx.record({ accountId, type: "pet.profile_updated", resource: { type: "pet", id: after.petId }, data, previous, version: after.version });
}

const upsertRows = statementOfRows(`
  INSERT INTO profiles (account_id, pet_id, description, price_amount, price_currency, facts, version)
  SELECT CAST(?2 AS BIGINT), CAST(said.value ->> 0 AS BIGINT), said.value ->> 1, CAST(said.value ->> 2 AS BIGINT), said.value ->> 3,
    said.value ->> 4, 1
  FROM ROWS AS said WHERE TRUE
  ON CONFLICT (account_id, pet_id) DO UPDATE SET description = excluded.description, price_amount = excluded.price_amount,
    price_currency = excluded.price_currency, facts = excluded.facts, version = profiles.version + 1`);
/** The most rows of one statement. */
const rowsAtOnceMax = 100;

/** Writes the descriptions, prices and facts of locked pets, whose photos stay as they are. Makes the profiles that are missing. */
export async function writeProfiles(tx: Transaction, accountId: number, changes: readonly ProfileChange[]): Promise<void> {
  const said = changes.map(({ after: { petId, description, price, facts } }) => {
    return [petId, description, price?.amount ?? null, price?.currency ?? null, textOf(facts)];
  });
  for (let from = 0; from < said.length; from += rowsAtOnceMax)
    await tx.run(upsertRows, [JSON.stringify(said.slice(from, from + rowsAtOnceMax)), accountId]);
  const changed = changes.filter(({ before, after }) => textOf(before?.facts ?? null) !== textOf(after.facts));
  await replaceFacts(
    tx,
    accountId,
    changed.flatMap(({ before }) => (before?.facts ? [before.petId] : [])),
    changed.flatMap(({ after: { petId, facts } }) => factRowsOf(petId, facts)),
  );
}

export type ProfileChange = { before: StoredProfile | undefined; after: StoredProfile };

const textOf = (facts: Facts | null): string | null => facts && JSON.stringify(facts);

function profileOf(db: Pick<Queryable, "reportDamage">, row: ProfileRow, forms: FormRow[]): StoredProfile {
  const { pet_id: petId, description, price_amount: amount, price_currency: currency, version } = row;
  const photos = Array.from(Map.groupBy(forms, ({ id }) => id).values(), (own) => ({
    id: own[0]!.id,
    alt: own[0]!.alt,
    focus: focusOf(own[0]!),
    forms: own.map(({ type, width, height, hash }) => ({ type, width, height, hash })),
  }));
  const price = amount === null || currency === null ? null : { amount, currency };
  return { petId, description, price, facts: storedFacts(db, row), photos, version };
}

function focusOf({ focus_x: x, focus_y: y }: Pick<FormRow, "focus_x" | "focus_y">): StoredPhoto["focus"] {
  return x === null || y === null ? null : { x, y };
}

/** @throws Problem `unavailable` for a text that was damaged */
export function storedFacts(
  db: Pick<Queryable, "reportDamage">,
  { pet_id: petId, facts }: Pick<ProfileRow, "pet_id" | "facts">,
): Facts | null {
  if (facts === null) return null;
  const read = attempt(() => JSON.parse(facts) as unknown);
  if (!isFacts(read)) throw db.reportDamage(`the facts of pet ${petId} are damaged`);
  return read;
}

/** Adds an empty profile to a locked pet that has none. Returns whether it added one. */
export async function ensureProfile(tx: Transaction, accountId: number, petId: number): Promise<boolean> {
  const added = await tx.query(sql`
    INSERT INTO profiles (account_id, pet_id, version) VALUES (${accountId}, ${petId}, 0)
    ON CONFLICT (account_id, pet_id) DO NOTHING RETURNING 1`);
  return added.length > 0;
}

/**
 * Saves a locked pet's description, price and facts. If `photos` is given, saves their order and texts, and deletes the pet's other photos.
 *
 * @param before the facts until now
 */
export async function writeProfile(
  tx: Transaction,
  accountId: number,
  petId: number,
  {
    description,
    price,
    facts,
    photos,
  }: Omit<StoredProfile, "petId" | "version" | "photos"> & { photos: readonly PhotoFields[] | undefined },
  before: Facts | null,
): Promise<void> {
  await tx.query(sql`
    UPDATE profiles SET description = ${description}, price_amount = ${price?.amount ?? null}, price_currency = ${price?.currency ?? null},
      facts = ${textOf(facts)}, version = version + 1
    WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  if (textOf(before) !== textOf(facts)) await replaceFacts(tx, accountId, before ? [petId] : [], factRowsOf(petId, facts));
  if (photos === undefined) return;
  const others = photos.length === 0 ? empty : sql`AND id NOT IN (${join(photos.map(({ id }) => id))})`;
  await tx.query(sql`DELETE FROM photos WHERE account_id = ${accountId} AND pet_id = ${petId} ${others}`);
  for (const [place, { id, alt, focus }] of photos.entries()) {
    await tx.query(sql`
      UPDATE photos SET place = ${place}, alt = ${alt}, focus_x = ${focus?.x ?? null}, focus_y = ${focus?.y ?? null}
      WHERE account_id = ${accountId} AND id = ${id}`);
  }
}

/** Adds a photo at the end of a locked pet's profile, and returns its identifier. */
export async function insertPhoto(tx: Transaction, accountId: number, petId: number, alt: string): Promise<number> {
  const rows = await tx.query<{ id: number }>(sql`
    INSERT INTO photos (account_id, id, pet_id, place, alt)
    VALUES (${accountId}, nextval('photo_ids'), ${petId},
      (SELECT COALESCE(MAX(place) + 1, 0) FROM photos WHERE account_id = ${accountId} AND pet_id = ${petId}), ${alt})
    RETURNING id`);
  await incrementVersion(tx, accountId, petId);
  return rows[0]!.id;
}

/** @throws Problem `not_found` */
export async function deletePhoto(tx: Transaction, accountId: number, petId: number, photoId: number): Promise<void> {
  const gone = await tx.query(
    sql`DELETE FROM photos WHERE account_id = ${accountId} AND pet_id = ${petId} AND id = ${photoId} RETURNING id`,
  );
  if (gone.length === 0) throw new Problem("not_found", `${byId("Pet", petId)} has no ${byId("photo", photoId)}.`);
  await incrementVersion(tx, accountId, petId);
}

async function incrementVersion(tx: Transaction, accountId: number, petId: number): Promise<void> {
  await tx.query(sql`UPDATE profiles SET version = version + 1 WHERE account_id = ${accountId} AND pet_id = ${petId}`);
}

/** Deletes the profile of a locked pet with its photos. */
export async function deleteProfile(tx: Transaction, accountId: number, petId: number): Promise<void> {
  await tx.query(sql`DELETE FROM profiles WHERE account_id = ${accountId} AND pet_id = ${petId}`);
}

/** Deletes the profile of a locked pet with its photos, and records it. */
export async function removeProfile(tx: Transaction, accountId: number, urlOf: UrlOf, current: StoredProfile): Promise<void> {
  await deleteProfile(tx, accountId, current.petId);
  recordProfile(tx, accountId, urlOf, current, { ...current, ...emptyProfile });
}

/** Requires that the pet has fewer photos than the maximum. @throws Problem `not_found`, `invalid_request` */
export async function requirePhotoRoom(db: Queryable, accountId: number, petId: number): Promise<void> {
  const [row] = await db.query<{ photos: number }>(sql`
    SELECT (SELECT COUNT(*) FROM photos WHERE photos.account_id = pets.account_id AND photos.pet_id = pets.id) AS photos
    FROM pets WHERE account_id = ${accountId} AND id = ${petId}`);
  if (row === undefined) throw new Problem("not_found", `There is no ${byId("pet", petId)}.`);
  if (row.photos < photosMax) return;
  const details = [{ path: "body", message: "is one photo too many" }];
  throw new Problem("invalid_request", `Pet ${petId} has ${photosMax} photos, the most: delete one first.`, { details });
}
