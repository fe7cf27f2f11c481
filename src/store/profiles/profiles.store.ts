import sql, { empty, join } from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import { fieldsBefore } from "../../platform/events.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { photosMax, shownProfile, type PhotoText, type Price, type StoredProfile, type UrlOf } from "./profiles.ts";

type ProfileRow = {
  pet_id: number;
  description: string | null;
  price_amount: number | null;
  price_currency: string | null;
  version: number;
};
type FormRow = { id: number; pet_id: number; alt: string; type: string; width: number; height: number; hash: string };

const columns = sql`pet_id, description, price_amount, price_currency, version`;

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
    SELECT photos.id, photos.pet_id, photos.alt, photo_files.type, photo_files.width, photo_files.height, photo_files.hash
    FROM photos JOIN photo_files ON photo_files.account_id = photos.account_id AND photo_files.photo_id = photos.id
    WHERE photos.account_id = ${accountId} AND photos.pet_id IN (${join(profiles.map((row) => row.pet_id))})
    ORDER BY photos.pet_id, photos.place, photos.id, photo_files.type, photo_files.width`);
  const byPet = Map.groupBy(forms, (row) => row.pet_id);
  return new Map(profiles.map((row) => [row.pet_id, profileOf(row, byPet.get(row.pet_id) ?? [])]));
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
  INSERT INTO profiles (account_id, pet_id, description, price_amount, price_currency, version)
  SELECT CAST(?2 AS BIGINT), CAST(said.value ->> 0 AS BIGINT), said.value ->> 1, CAST(said.value ->> 2 AS BIGINT), said.value ->> 3, 1
  FROM ROWS AS said WHERE TRUE
  ON CONFLICT (account_id, pet_id) DO UPDATE SET description = excluded.description, price_amount = excluded.price_amount,
    price_currency = excluded.price_currency, version = profiles.version + 1`);
/** The most rows of one statement. */
const rowsAtOnceMax = 100;

/** Writes the descriptions and prices of locked pets, whose photos stay as they are. Makes the profiles that are missing. */
export async function writeProfiles(
  tx: Transaction,
  accountId: number,
  profiles: readonly Omit<StoredProfile, "photos" | "version">[],
): Promise<void> {
  const said = profiles.map(({ petId, description, price }) => [petId, description, price?.amount ?? null, price?.currency ?? null]);
  for (let from = 0; from < said.length; from += rowsAtOnceMax)
    await tx.run(upsertRows, [JSON.stringify(said.slice(from, from + rowsAtOnceMax)), accountId]);
}

function profileOf({ pet_id: petId, description, price_amount: amount, price_currency: currency, version }: ProfileRow, forms: FormRow[]) {
  const photos = Array.from(Map.groupBy(forms, ({ id }) => id).values(), (own) => ({
    id: own[0]!.id,
    alt: own[0]!.alt,
    forms: own.map(({ type, width, height, hash }) => ({ type, width, height, hash })),
  }));
  const price = amount === null || currency === null ? null : { amount, currency };
  return { petId, description, price, photos, version };
}

/** Adds an empty profile to a locked pet that has none. Returns whether it added one. */
export async function ensureProfile(tx: Transaction, accountId: number, petId: number): Promise<boolean> {
  const added = await tx.query(sql`
    INSERT INTO profiles (account_id, pet_id, version) VALUES (${accountId}, ${petId}, 0)
    ON CONFLICT (account_id, pet_id) DO NOTHING RETURNING 1`);
  return added.length > 0;
}

/** Saves a locked pet's description and price. If `photos` is given, saves their order and texts, and deletes the pet's other photos. */
export async function writeProfile(
  tx: Transaction,
  accountId: number,
  petId: number,
  { description, price, photos }: { description: string | null; price: Price | null; photos: readonly PhotoText[] | undefined },
): Promise<void> {
  await tx.query(sql`
    UPDATE profiles SET description = ${description}, price_amount = ${price?.amount ?? null}, price_currency = ${price?.currency ?? null},
      version = version + 1
    WHERE account_id = ${accountId} AND pet_id = ${petId}`);
  if (photos === undefined) return;
  const others = photos.length === 0 ? empty : sql`AND id NOT IN (${join(photos.map(({ id }) => id))})`;
  await tx.query(sql`DELETE FROM photos WHERE account_id = ${accountId} AND pet_id = ${petId} ${others}`);
  for (const [place, { id, alt }] of photos.entries()) {
    await tx.query(sql`UPDATE photos SET place = ${place}, alt = ${alt} WHERE account_id = ${accountId} AND id = ${id}`);
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
