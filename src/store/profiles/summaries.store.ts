import sql, { join } from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import { storedFacts } from "./profiles.store.ts";
import type { Price, UrlOf } from "./profiles.ts";

type SummaryRow = {
  id: number;
  category: string;
  facts: string | null;
  price_amount: number | null;
  price_currency: string | null;
  photo_id: number | null;
};
type FormRow = { photo_id: number; type: string; width: number; height: number; hash: string };

/** What a row of a list shows of a pet beside its name. `words` say what animal it is: its species and its category. */
export type Summary = { id: number; price: Price | null; photo: { url: string } | null; words: string };

/** Reads the price and the smallest WebP picture of the first photo of these pets. Leaves out pets that do not exist. */
export async function readSummaries(db: Database, accountId: number, petIds: readonly number[], urlOf: UrlOf): Promise<Summary[]> {
  const rows = await db.query<SummaryRow>(sql`
    SELECT pets.id, categories.name AS category, facts, price_amount, price_currency,
      (SELECT id FROM photos WHERE photos.account_id = pets.account_id AND photos.pet_id = pets.id ORDER BY place, id LIMIT 1) AS photo_id
    FROM pets
    JOIN categories ON categories.account_id = pets.account_id AND categories.id = pets.category_id
    LEFT JOIN profiles ON profiles.account_id = pets.account_id AND profiles.pet_id = pets.id
    WHERE pets.account_id = ${accountId} AND pets.id IN (${join([...petIds])}) ORDER BY pets.id`);
  const photos = rows.flatMap((row) => row.photo_id ?? []);
  const forms = photos.length === 0 ? [] : await readPictures(db, accountId, photos);
  // The last of a photo is its smallest.
  const smallest = new Map(forms.map((form) => [form.photo_id, form]));
  return rows.map(({ id, category, facts, price_amount: amount, price_currency: currency, photo_id: photoId }) => {
    const form = photoId === null ? undefined : smallest.get(photoId);
    const price = amount === null || currency === null ? null : { amount, currency };
    const species = storedFacts(db, { pet_id: id, facts })?.species;
    return { id, price, photo: form ? { url: urlOf(form) } : null, words: `${species ?? ""} ${category}` };
  });
}

function readPictures(db: Database, accountId: number, photoIds: readonly number[]): Promise<FormRow[]> {
  return db.query<FormRow>(sql`
    SELECT photo_id, type, width, height, hash FROM photo_files
    WHERE account_id = ${accountId} AND photo_id IN (${join([...photoIds])}) AND type = 'image/webp' ORDER BY photo_id, width DESC`);
}
