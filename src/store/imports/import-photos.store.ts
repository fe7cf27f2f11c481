import sql, { join } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { statementOfRows } from "../../platform/db/statement.ts";
import { claimByAccount, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim } from "../../platform/nodes/nodes.ts";
import type { FailedPhoto } from "./imports.ts";

/** A photo that is still to be fetched. */
export type DuePhoto = { accountId: number; petId: number; place: number; importId: number; url: string; attempts: number };

/** The most photos that an import lists because they could not be fetched. */
const failedListedMax = 20;

const insertRows = statementOfRows(`
  INSERT INTO import_photos (account_id, import_id, pet_id, place, url, attempts, due_at)
  SELECT CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), CAST(wanted.value ->> 0 AS BIGINT), CAST(wanted.value ->> 1 AS BIGINT), wanted.value ->> 2, 0,
    CAST(?4 AS BIGINT)
  FROM ROWS AS wanted`);
/** The most rows of one statement. */
const rowsAtOnceMax = 250;

/** Has the photos of new or locked pets fetched, in place of those that still wait. */
export async function queuePhotos(
  tx: Transaction,
  { accountId, importId }: { accountId: number; importId: number },
  wanted: readonly { petId: number; urls: readonly string[] }[],
  now: number,
): Promise<void> {
  if (wanted.length === 0) return;
  await dropPhotos(
    tx,
    accountId,
    wanted.map(({ petId }) => petId),
  );
  const rows = wanted.flatMap(({ petId, urls }) => urls.map((url, place) => [petId, place, url]));
  for (let from = 0; from < rows.length; from += rowsAtOnceMax)
    await tx.run(insertRows, [JSON.stringify(rows.slice(from, from + rowsAtOnceMax)), accountId, importId, now]);
}

/** Has no more photos of these pets fetched. */
export async function dropPhotos(tx: Transaction, accountId: number, petIds: readonly number[]): Promise<void> {
  if (petIds.length === 0) return;
  await tx.query(sql`DELETE FROM import_photos WHERE account_id = ${accountId} AND pet_id IN (${join([...petIds])})`);
}

/** Claims photos that are due, of each pet the first. */
export async function claimPhotos(tx: Transaction, share: ClaimShare, { lease, now, isFree }: RowClaim): Promise<DuePhoto[]> {
  await tx.lock("claims of imported photos");
  const due = sql`due_at <= ${now} AND ${isFree(sql`lease_until`, sql`lease_id`)}`;
  const isFirst = sql`NOT EXISTS (
    SELECT 1 FROM import_photos AS earlier
    WHERE earlier.account_id = import_photos.account_id AND earlier.pet_id = import_photos.pet_id AND earlier.place < import_photos.place)`;
  return claimByAccount(share, sql`account_id`, async (uncrowded, room) => {
    const rows = await tx.query<{
      account_id: number;
      pet_id: number;
      place: number;
      import_id: number;
      url: string;
      attempts: number;
    }>(sql`
      UPDATE import_photos SET lease_until = ${lease.until}, lease_id = ${lease.leaseId}
      WHERE ${due} AND (account_id, pet_id, place) IN (
        SELECT account_id, pet_id, place FROM import_photos WHERE ${due} ${uncrowded} AND ${isFirst}
        ORDER BY due_at ${limitTo(room)}${tx.skipLocked("import_photos")})
      RETURNING account_id, pet_id, place, import_id, url, attempts`);
    return rows.map((row) => ({ accountId: row.account_id, petId: row.pet_id, importId: row.import_id, ...row }));
  });
}

/** Takes a photo off the queue. Returns false if it is not there any more. */
export async function takePhoto(tx: Transaction, { accountId, petId, place, url }: DuePhoto): Promise<boolean> {
  const taken = await tx.query(
    sql`DELETE FROM import_photos WHERE account_id = ${accountId} AND pet_id = ${petId} AND place = ${place} AND url = ${url} RETURNING 1`,
  );
  return taken.length > 0;
}

/** Has a photo fetched again later. */
export async function delayPhoto(tx: Transaction, { accountId, petId, place, attempts }: DuePhoto, dueAt: number): Promise<void> {
  await tx.query(sql`
    UPDATE import_photos SET attempts = ${attempts + 1}, due_at = ${dueAt}, lease_until = NULL, lease_id = NULL
    WHERE account_id = ${accountId} AND pet_id = ${petId} AND place = ${place}`);
}

/** Notes in its import that a photo could not be fetched. */
export async function failPhoto(tx: Transaction, photo: DuePhoto, reason: string): Promise<void> {
  const { accountId, importId, petId, url } = photo;
  const [row] = await tx.query<{ photos_listed: string }>(
    sql`SELECT photos_listed FROM imports WHERE account_id = ${accountId} AND id = ${importId}${tx.forUpdate}`,
  );
  if (!(await takePhoto(tx, photo))) return;
  const listed = [...(JSON.parse(row?.photos_listed ?? "[]") as FailedPhoto[]), { petId, url, reason }].slice(0, failedListedMax);
  await tx.query(sql`
    UPDATE imports SET photos_failed = photos_failed + 1, photos_listed = ${JSON.stringify(listed)}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${importId}`);
}

/** Lets an import whose photo was added be undone all the same: the version of the profile is one that it left. */
export async function moveProfileVersion(
  tx: Transaction,
  { accountId, importId, petId }: DuePhoto,
  before: number | null,
  after: number,
): Promise<void> {
  const isLeft = before === null ? sql`profile_version IS NULL AND is_new` : sql`profile_version = ${before}`;
  await tx.query(sql`
    UPDATE import_changes SET profile_version = ${after}
    WHERE account_id = ${accountId} AND import_id = ${importId} AND pet_id = ${petId} AND ${isLeft}`);
}
