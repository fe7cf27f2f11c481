import sql, { raw, type Sql } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { findRows, walkRows } from "../../platform/db/index-walk.ts";
import { actorOfText, actorText, type EventDraft, type Origin } from "../../platform/events.ts";
import { normalize } from "../../platform/folding.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { claimByAccount, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim } from "../../platform/nodes/nodes.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { deleteUnusedCategories, insertMissingCategories } from "../categories/categories.store.ts";
import {
  staysListedMax,
  type FailedPhoto,
  type Import,
  type ImportInput,
  type ImportQuery,
  type ImportStatus,
  type StayingPet,
} from "./imports.ts";

type ImportRow = {
  id: number;
  source_id: number;
  source: string;
  file_name: string;
  status: ImportStatus;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  actor: string;
  started_at: number;
  finished_at: number | null;
  undone_at: number | null;
  undone: number;
  stays: number;
  stays_listed: string;
  photos_failed: number;
  photos_listed: string;
  version: number;
  due_at: number | null;
};

/** An import with its source's identifier and the version that its ETag shows. */
export type StoredImport = { shown: Import; sourceId: number; dueAt: number | null; version: number };

const columns = raw(
  "id, source_id, file_name, status, created, updated, unchanged, rejected, actor, started_at, finished_at, undone_at, undone, stays, stays_listed, photos_failed, photos_listed, version, due_at, account_id",
);
/** Adds the name of the source to rows of `imports`. */
const named = (rows: Sql): Sql => sql`
  SELECT found.*, import_sources.name AS source FROM (${rows}) AS found
  JOIN import_sources ON import_sources.account_id = found.account_id AND import_sources.id = found.source_id`;

/** The most sources of an account. */
const sourcesMax = 100;

/** Returns up to `limit` imports that pass the filter, sorted by `sort`; with `afterId`, only those that come after it. */
export async function listImports(
  db: Database,
  accountId: number,
  { source, sort }: ImportQuery,
  afterId: number | undefined,
  limit: number,
): Promise<Import[]> {
  const isBackwards = sort === "-id";
  const ofSource = source === undefined ? undefined : await findSource(db, accountId, source);
  if (source !== undefined && ofSource === undefined) return [];
  const rows = walkRows(
    db.engine,
    {
      table: "imports",
      columns,
      accountId,
      ...(ofSource !== undefined && { index: "imports_by_source", equal: { source_id: ofSource } }),
      order: ["id"],
      ...(isBackwards ? { isBackwards, until: afterId } : { after: afterId === undefined ? undefined : [afterId] }),
    },
    limit,
  );
  const found = await db.query<ImportRow>(rows);
  const lookUp = { table: "import_sources", columns: raw("id, name"), accountId, key: "id" };
  const sources = await db.query<{ id: number; name: string }>(
    findRows(
      db.engine,
      lookUp,
      found.map((row) => row.source_id),
    ),
  );
  const names = new Map(sources.map(({ id, name }) => [id, name]));
  return found.map((row) => fromRow({ ...row, source: names.get(row.source_id) ?? "" }).shown);
}

async function findSource(db: Queryable, accountId: number, name: string): Promise<number | undefined> {
  const rows = await db.query<{ id: number }>(
    sql`SELECT id FROM import_sources WHERE account_id = ${accountId} AND name_key = ${normalize(name)}`,
  );
  return rows[0]?.id;
}

const ofOne = (accountId: number, id: number): Sql => sql`SELECT ${columns} FROM imports WHERE account_id = ${accountId} AND id = ${id}`;

/** @throws Problem `not_found` */
export async function findImport(db: Queryable, accountId: number, id: number): Promise<StoredImport> {
  return requireRow(await db.query<ImportRow>(named(ofOne(accountId, id))), id);
}

/** Locks the import, and its source, so that no other transaction changes what the source's rows said last. @throws Problem `not_found` */
export async function lockImport(tx: Transaction, accountId: number, id: number): Promise<StoredImport> {
  return requireRow(await tx.query<ImportRow>(sql`${named(ofOne(accountId, id))}${tx.forUpdate}`), id);
}

/** Begins an import: makes its source and its categories where they are missing. @throws Problem `storage_limit_reached` */
export async function insertImport(
  tx: Transaction,
  accountId: number,
  made: ImportInput,
  now: number,
  { actor }: Origin,
): Promise<StoredImport> {
  const sourceId = await ensureSource(tx, accountId, made.source);
  const categories = await insertMissingCategories(tx, accountId, made.categories ?? []);
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO imports (account_id, id, source_id, file_name, status, created, updated, unchanged, rejected, categories, actor, started_at, stays,
      stays_listed, version, due_at)
    VALUES (${accountId}, nextval('import_ids'), ${sourceId}, ${made.fileName}, 'open', 0, 0, 0, 0, ${JSON.stringify(categories)},
      ${actorText(actor)}, ${now}, 0, '[]', 1, ${now + openMs})
    RETURNING id`);
  return findImport(tx, accountId, row!.id);
}

/** How long (ms) an import without rows stays open, and how long a finished one can be undone. */
const openMs = dayMs;
const undoMs = 90 * openMs;

async function ensureSource(tx: Transaction, accountId: number, name: string): Promise<number> {
  const known = await findSource(tx, accountId, name);
  if (known !== undefined) return known;
  const [counted] = await tx.query<{ count: number }>(sql`SELECT COUNT(*) AS count FROM import_sources WHERE account_id = ${accountId}`);
  if (Number(counted?.count) >= sourcesMax)
    throw new Problem(
      "storage_limit_reached",
      `The account has imported from ${sourcesMax} sources, the most: use the name of one of them.`,
    );
  await tx.query(sql`
    INSERT INTO import_sources (account_id, id, name, name_key) VALUES (${accountId}, nextval('import_source_ids'), ${name}, ${normalize(name)})
    ON CONFLICT (account_id, name_key) DO NOTHING`);
  return (await findSource(tx, accountId, name))!;
}

/** What one call adds to an import. */
export type AddedCounts = { created: number; updated: number; unchanged: number; rejected: number };

/** Counts the rows of a call, and ends the locked import if it was the last call. */
export async function addToImport(
  tx: Transaction,
  accountId: number,
  { shown: { id } }: StoredImport,
  { created, updated, unchanged, rejected }: AddedCounts,
  { isLast, now }: { isLast: boolean; now: number },
): Promise<void> {
  await tx.query(sql`
    UPDATE imports SET created = created + ${created}, updated = updated + ${updated}, unchanged = unchanged + ${unchanged},
      rejected = rejected + ${rejected}, due_at = ${now + openMs}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id}`);
  if (isLast) await finishImport(tx, accountId, id, now);
}

/** Whether an import has to be ended, undone or forgotten, or a photo to be fetched. */
export async function hasDueImport(db: Queryable, now: number): Promise<boolean> {
  const due = (table: string): Sql => sql`EXISTS (SELECT 1 FROM ${raw(table)} WHERE due_at <= ${now})`;
  return (await db.query(sql`SELECT 1 WHERE ${due("imports")} OR ${due("import_photos")}`)).length > 0;
}

/** Ends a locked import that is open. */
export async function finishImport(tx: Transaction, accountId: number, id: number, now: number): Promise<void> {
  await tx.query(sql`
    UPDATE imports SET status = 'finished', finished_at = ${now}, due_at = ${now + undoMs}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id}`);
  tx.record(eventOf(accountId, "import.finished", await findImport(tx, accountId, id)));
}

/** Begins to undo an import, after ending it. Does nothing if that has begun before. @throws Problem `not_found`, `import_closed` */
export async function beginUndo(tx: Transaction, accountId: number, id: number, now: number, { actor }: Origin): Promise<StoredImport> {
  const { shown, dueAt } = await lockImport(tx, accountId, id);
  if (shown.status === "open") await finishImport(tx, accountId, id, now);
  else if (shown.status !== "finished") return findImport(tx, accountId, id);
  else if (dueAt === null || dueAt <= now) throw tooLate(id);
  await tx.query(sql`
    UPDATE imports SET status = 'undoing', undone_by = ${actorText(actor)}, due_at = ${now}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id}`);
  return findImport(tx, accountId, id);
}

function tooLate(id: number): Problem {
  return new Problem("import_closed", `${byId("Import", id)} is more than 90 days old, so it can no longer be undone.`);
}

function eventOf(accountId: number, type: EventDraft["type"], { shown, version }: StoredImport): EventDraft {
  return { accountId, type, resource: { type: "import", id: shown.id }, data: shown, version };
}

/** The refusal of rows for an import that is not open. */
export function notOpen({ id, status }: Import): Problem {
  const states = { open: "open", finished: "finished", undoing: "being undone", undone: "undone" };
  return new Problem("import_closed", `${byId("Import", id)} is ${states[status]}: it takes no more rows. Begin another.`);
}

function requireRow(rows: ImportRow[], id: number): StoredImport {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("import", id)}.`);
  return fromRow(row);
}

function fromRow({ source_id: sourceId, file_name: fileName, stays, stays_listed: listed, version, ...row }: ImportRow): StoredImport {
  const {
    id,
    source,
    status,
    created,
    updated,
    unchanged,
    rejected,
    started_at: startedAt,
    finished_at: finishedAt,
    undone_at: undoneAt,
  } = row;
  const shown: Import = {
    id,
    source,
    fileName,
    status,
    created,
    updated,
    unchanged,
    rejected,
    startedAt: formatDateTime(startedAt),
    ...(finishedAt !== null && { finishedAt: formatDateTime(finishedAt) }),
    ...(undoneAt !== null && { undoneAt: formatDateTime(undoneAt) }),
    by: actorOfText(row.actor),
    ...(row.photos_failed > 0 && { photosFailed: { count: row.photos_failed, photos: JSON.parse(row.photos_listed) as FailedPhoto[] } }),
    ...((status === "undoing" || status === "undone") && {
      undone: row.undone,
      stays: { count: stays, pets: JSON.parse(listed) as StayingPet[] },
    }),
  };
  return { shown, sourceId, dueAt: row.due_at, version };
}

/** Counts the pets of a step of an undo, and adds those that it leaves as they are. */
export async function addUndone(
  tx: Transaction,
  accountId: number,
  { shown }: StoredImport,
  { undone, staying }: { undone: number; staying: readonly StayingPet[] },
): Promise<void> {
  const listed = [...(shown.stays?.pets ?? []), ...staying].slice(0, staysListedMax);
  await tx.query(sql`
    UPDATE imports SET undone = undone + ${undone}, stays = stays + ${staying.length}, stays_listed = ${JSON.stringify(listed)},
      version = version + 1
    WHERE account_id = ${accountId} AND id = ${shown.id}`);
}

/** Ends the undo of a locked import: deletes the categories that it made and nobody uses. */
export async function finishUndo(tx: Transaction, accountId: number, id: number, now: number): Promise<void> {
  const [row] = await tx.query<{ categories: string }>(sql`SELECT categories FROM imports WHERE account_id = ${accountId} AND id = ${id}`);
  await deleteUnusedCategories(tx, accountId, JSON.parse(row?.categories ?? "[]") as number[]);
  await tx.query(sql`
    UPDATE imports SET status = 'undone', undone_at = ${now}, due_at = NULL, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id}`);
  tx.record(eventOf(accountId, "import.undone", await findImport(tx, accountId, id)));
}

/** Makes a finished import one that cannot be undone any more. */
export async function endUndoTime(tx: Transaction, accountId: number, id: number): Promise<void> {
  await tx.query(sql`UPDATE imports SET due_at = NULL WHERE account_id = ${accountId} AND id = ${id}`);
}

/** An import that is due, with who asked to undo it. */
export type DueImport = { accountId: number; id: number; undoneBy: string | null };

/** Claims imports that are due: to be ended, undone, or forgotten. */
export async function claimDue(tx: Transaction, share: ClaimShare, { lease, now, isFree }: RowClaim): Promise<DueImport[]> {
  await tx.lock("claims of imports");
  const due = sql`due_at <= ${now} AND ${isFree(sql`lease_until`, sql`lease_id`)}`;
  return claimByAccount(share, sql`account_id`, async (uncrowded, room) => {
    const rows = await tx.query<{ account_id: number; id: number; undone_by: string | null }>(sql`
      UPDATE imports SET lease_until = ${lease.until}, lease_id = ${lease.leaseId}
      WHERE ${due} AND (account_id, id) IN (
        SELECT account_id, id FROM imports WHERE ${due} ${uncrowded} ORDER BY due_at ${limitTo(room)}${tx.skipLocked("imports")})
      RETURNING account_id, id, undone_by`);
    return rows.map((row) => ({ accountId: row.account_id, id: row.id, undoneBy: row.undone_by }));
  });
}

/** Ends the lease of an import, which may be claimed again from `dueAt` on if it is still due. */
export async function releaseDue(tx: Transaction, { accountId, id }: DueImport, dueAt: number): Promise<void> {
  await tx.query(sql`
    UPDATE imports SET lease_until = NULL, lease_id = NULL, due_at = CASE WHEN due_at < ${dueAt} THEN ${dueAt} ELSE due_at END
    WHERE account_id = ${accountId} AND id = ${id}`);
}
