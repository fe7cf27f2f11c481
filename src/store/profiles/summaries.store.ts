import sql, { join } from "sql-template-tag";
import type { Database } from "../../platform/db/database.ts";
import type { Price, UrlOf } from "./profiles.ts";

type SummaryRow = { pet_id: number; price_amount: number | null; price_currency: string | null; photo_id: number | null };
type FormRow = { photo_id: number; type: string; width: number; height: number; hash: string };

/** What a row of a list shows of a pet beside its name. */
export type Summary = { id: number; price: Price | null; photo: { url: string } | null };

/** Reads the price and the smallest WebP picture of the first photo of these pets. Leaves out pets without a profile. */
export async function readSummaries(db: Database, accountId: number, petIds: readonly number[], urlOf: UrlOf): Promise<Summary[]> {
  const rows = await db.query<SummaryRow>(sql`
    SELECT pet_id, price_amount, price_currency,
      (SELECT id FROM photos WHERE photos.account_id = profiles.account_id AND photos.pet_id = profiles.pet_id ORDER BY place, id LIMIT 1) AS photo_id
    FROM profiles WHERE account_id = ${accountId} AND pet_id IN (${join([...petIds])}) ORDER BY pet_id`);
  const photos = rows.flatMap((row) => row.photo_id ?? []);
  const forms = photos.length === 0 ? [] : await readPictures(db, accountId, photos);
  // The last of a photo is its smallest.
  const smallest = new Map(forms.map((form) => [form.photo_id, form]));
  return rows.map(({ pet_id: id, price_amount: amount, price_currency: currency, photo_id: photoId }) => {
    const form = photoId === null ? undefined : smallest.get(photoId);
    return { id, price: amount === null || currency === null ? null : { amount, currency }, photo: form ? { url: urlOf(form) } : null };
  });
}

function readPictures(db: Database, accountId: number, photoIds: readonly number[]): Promise<FormRow[]> {
  return db.query<FormRow>(sql`
    SELECT photo_id, type, width, height, hash FROM photo_files
    WHERE account_id = ${accountId} AND photo_id IN (${join([...photoIds])}) AND type = 'image/webp' ORDER BY photo_id, width DESC`);
}
