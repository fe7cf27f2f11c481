import sql, { bulk, join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { actorOfText, actorText, fieldsBefore, type Origin, systemOrigin } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { andUncrowded, type ClaimShare } from "../../platform/jobs/worker.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/nodes.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { changePublishedBytes, noRoomForBytes, readStorage } from "../../platform/storage-quotas.ts";
import { manifestToText } from "./content.ts";
import { type ClaimedFile, type Deployment, type DeploymentStatus, type UnpackedSite, waitingMax } from "./deployments.ts";
import { storefrontText } from "./project-file.ts";

const hashesAtOnce = 500;
/** The lock for claiming files and for removing unclaimed ones. */
const contentLock = "content";

export async function listDeployments(
  db: Database,
  accountId: number,
  projectId: number,
  afterId: number,
  limit: number,
): Promise<StoredDeployment[]> {
  const walk = { table: "deployments", index: "deployments_by_project", columns, accountId, equal: { project_id: projectId } };
  const rows = await db.query<DeploymentRow>(walkRows(db.engine, { ...walk, order: ["id"], after: [afterId] }, limit));
  return rows.map(deploymentFromRow);
}

/** @throws Problem `not_found` */
export async function findDeployment(db: Queryable, accountId: number, projectId: number, id: number): Promise<StoredDeployment> {
  const [row] = await db.query<DeploymentRow>(sql`
    SELECT ${columns} FROM deployments WHERE account_id = ${accountId} AND project_id = ${projectId} AND id = ${id}`);
  if (!row) throw new Problem("not_found", `${byId("Project", projectId)} has no ${byId("deployment", id)}.`);
  return deploymentFromRow(row);
}

/** `origin`: who uploaded it. @throws Problem `unavailable` while too many deployments of the account wait */
export async function insertDeployment(
  tx: Transaction,
  accountId: number,
  projectId: number,
  upload: string,
  now: number,
  { actor, requestId }: Origin = systemOrigin,
): Promise<StoredDeployment> {
  const waiting = await tx.query(
    sql`SELECT 1 FROM deployments WHERE account_id = ${accountId} AND status = 'queued' ${limitTo(waitingMax)}`,
  );
  if (waiting.length === waitingMax) {
    throw new Problem("unavailable", `${waitingMax} deployments are waiting already. Try again when some of them are done.`, {
      headers: { "retry-after": "5" },
    });
  }
  const [row] = await tx.query<DeploymentRow>(sql`
    INSERT INTO deployments (account_id, id, project_id, status, files, bytes, upload, version, created_at, uploaded_by, upload_request_id)
    VALUES (${accountId}, nextval('deployment_ids'), ${projectId}, 'queued', 0, 0, ${upload}, 1, ${now}, ${actorText(actor)}, ${requestId})
    RETURNING ${columns}`);
  return deploymentFromRow(row!);
}

/** Whether a deployment uses this upload. */
export async function isUploadTaken(db: Queryable, upload: string): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM deployments WHERE upload = ${upload}`)).length > 0;
}

/** `attempts` counts the claims that no process has given back, this one included. */
export type WaitingDeployment = { accountId: number; id: number; projectId: number; upload: string; attempts: number; lease: RowLease };

/**
 * Leases waiting deployments. Accounts take turns, starting with the one whose last turn was longest ago, and each account's oldest deployment
 * comes first. A project has one deployment leased at a time, so it switches to its newest one last.
 */
export async function claimDeployments(
  tx: Transaction,
  { count, maxPerAccount, running }: ClaimShare,
  claim: RowClaim,
): Promise<WaitingDeployment[]> {
  await tx.lock("claims of deployments");
  const held = createTally(running);
  const claimed: WaitingDeployment[] = [];
  while (claimed.length < count) {
    const next = await claimNext(tx, andUncrowded(sql`d.account_id`, held.counts, maxPerAccount), claim);
    if (next === null) break;
    held.add(next.accountId);
    claimed.push(next);
  }
  return claimed;
}

async function claimNext(tx: Transaction, uncrowded: Sql, { lease, isFree }: RowClaim): Promise<WaitingDeployment | null> {
  const due = sql`status = 'queued' AND ${isFree(sql`lease_until`, sql`lease_life`)}`;
  const [row] = await tx.query<{ account_id: number; id: number; project_id: number; upload: string; attempts: number }>(sql`
    UPDATE deployments SET lease_until = ${lease.until}, lease_life = ${lease.leaseId}, attempts = attempts + 1
    WHERE ${due} AND id = (
      SELECT d.id FROM deployments d LEFT JOIN deployment_turns turn ON turn.account_id = d.account_id
      WHERE ${due} ${uncrowded}
        AND NOT EXISTS (SELECT 1 FROM deployments earlier WHERE earlier.account_id = d.account_id
          AND earlier.project_id = d.project_id AND earlier.id < d.id AND earlier.status = 'queued')
      ORDER BY COALESCE(turn.number, 0), d.id ${limitTo(1)}${tx.skipLocked("d")})
    RETURNING account_id, id, project_id, upload, attempts`);
  if (!row) return null;
  const accountId = row.account_id;
  await tx.query(sql`
    INSERT INTO deployment_turns (account_id, number)
    SELECT CAST(${accountId} AS BIGINT), COALESCE(MAX(number), 0) + 1 FROM deployment_turns WHERE TRUE
    ON CONFLICT (account_id) DO UPDATE SET number = excluded.number`);
  return { accountId, id: row.id, projectId: row.project_id, upload: row.upload, attempts: row.attempts, lease };
}

/** Keeps a worker from writing after it has lost its lease, for example while it was paused or cut off. */
const heldBy = ({ until, leaseId }: RowLease): Sql => sql`status = 'queued' AND lease_until = ${until} AND lease_life = ${leaseId}`;

/** Saves the files and the storefront of a deployment. Returns false if the lease was lost or the project is gone. */
export async function saveManifest(
  tx: Transaction,
  { accountId, id, lease }: WaitingDeployment,
  { manifest, files, bytes, projectFile, leftOut }: UnpackedSite,
): Promise<boolean> {
  const kept = await tx.query(sql`
    UPDATE deployments SET manifest = ${manifestToText(manifest)}, storefront = ${storefrontText(projectFile)}, files = ${files}, bytes = ${bytes},
      left_out = ${leftOut.count}, left_out_paths = ${JSON.stringify(leftOut.paths)}
    WHERE account_id = ${accountId} AND id = ${id} AND ${heldBy(lease)} RETURNING 1`);
  return kept.length > 0;
}

/** Marks a deployment as ready. Returns false if the lease was lost or the project is gone. */
export async function finishDeployment(tx: Transaction, { accountId, id, lease }: WaitingDeployment): Promise<boolean> {
  const [done] = await tx.query<EndedRow>(sql`
    UPDATE deployments SET status = 'ready', upload = NULL, lease_until = NULL, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} AND ${heldBy(lease)} RETURNING ${columns}, uploaded_by, upload_request_id`);
  if (done) recordEnd(tx, "deployment.ready", done);
  return done !== undefined;
}

/**
 * Claims the files of a deployment before it is ready: from now on they are not removed as unused, and their bytes count, so that parallel
 * deployments cannot exceed the limit together.
 *
 * @throws Problem `storage_limit_reached`
 */
export async function claimFiles(
  tx: Transaction,
  { accountId, id }: Pick<WaitingDeployment, "accountId" | "id">,
  files: readonly ClaimedFile[],
): Promise<void> {
  await tx.lock(contentLock);
  await changePublishedBytes(tx, accountId, async () => {
    const before = await bytesOnlyIn(tx, accountId, [id]); // from an interrupted try
    for (let i = 0; i < files.length; i += hashesAtOnce) {
      const rows = files.slice(i, i + hashesAtOnce).map(({ hash, size }) => [accountId, id, hash, size]);
      await tx.query(sql`
        INSERT INTO files (account_id, deployment_id, hash, bytes) VALUES ${bulk(rows)}
        ON CONFLICT (account_id, deployment_id, hash) DO NOTHING`);
    }
    return (await bytesOnlyIn(tx, accountId, [id])) - before;
  });
}

/**
 * The bytes of the files that only these deployments of the account have, each content once: where the oldest of them has it. The bound on the
 * bytes, which every file is within, makes SQLite look up the content: without it, it would read all files of the account for each one.
 */
async function bytesOnlyIn(db: Queryable, accountId: number, ids: readonly number[]): Promise<number> {
  const [row] = await db.query<{ bytes: number }>(sql`
    SELECT COALESCE(SUM(bytes), 0) AS bytes FROM files WHERE account_id = ${accountId} AND deployment_id IN (${join(ids)}) AND NOT EXISTS
      (SELECT 1 FROM files other WHERE other.account_id = ${accountId} AND other.hash = files.hash AND other.bytes >= 0
        AND (other.deployment_id < files.deployment_id OR other.deployment_id NOT IN (${join(ids)})))`);
  return Number(row?.bytes);
}

/**
 * Gives an attempt back whose process goes on, also if it has lost the lease to another one. If it still has the lease, ends it early, at
 * `until` (ms), so that the deployment is tried again then.
 */
export async function giveBack(tx: Transaction, { accountId, id, lease }: WaitingDeployment, until: number): Promise<void> {
  await tx.query(sql`
    UPDATE deployments SET attempts = attempts - 1, lease_until = CASE WHEN ${heldBy(lease)} THEN ${until} ELSE lease_until END
    WHERE account_id = ${accountId} AND id = ${id} AND status = 'queued' AND attempts > 0`);
}

/** Marks a deployment as failed. Returns false if the lease was lost or the project is gone. */
export async function failDeployment(tx: Transaction, { accountId, id, lease }: WaitingDeployment, error: string): Promise<boolean> {
  const [failed] = await tx.query<EndedRow>(sql`
    UPDATE deployments SET status = 'failed', error = ${error}, upload = NULL, lease_until = NULL, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} AND ${heldBy(lease)} RETURNING ${columns}, uploaded_by, upload_request_id`);
  if (!failed) return false;
  recordEnd(tx, "deployment.failed", failed);
  await freeFiles(tx, accountId, [id]);
  return true;
}

/** Deletes all but the newest `kept` deployments of a project; the served one always stays and counts. Their content may then be removed. */
export async function pruneDeployments(
  tx: Transaction,
  accountId: number,
  projectId: number,
  servedId: number | null,
  kept: number,
): Promise<void> {
  const old = await listOld(tx, accountId, projectId, servedId, kept);
  if (old.length > 0) await deleteDeployments(tx, accountId, old);
}

export async function deleteDeployments(tx: Transaction, accountId: number, ids: readonly number[]): Promise<void> {
  await freeFiles(tx, accountId, ids);
  await tx.query(sql`DELETE FROM deployments WHERE account_id = ${accountId} AND id IN (${join(ids)})`);
}

/**
 * Refuses a new deployment of a locked project if the account has no room at all, even without the deployments that it would push out of the
 * `kept` newest. How much it adds is known only after it is unpacked.
 *
 * @throws Problem `storage_limit_reached`
 */
export async function requireRoom(
  tx: Transaction,
  accountId: number,
  projectId: number,
  servedId: number | null,
  kept: number,
): Promise<void> {
  const { publishedBytes } = await readStorage(tx, accountId);
  if (publishedBytes.remaining > 0) return;
  const old = await listOld(tx, accountId, projectId, servedId, kept - 1);
  const freed = old.length === 0 ? 0 : await bytesOnlyIn(tx, accountId, old);
  if (publishedBytes.used - freed >= publishedBytes.limit) throw noRoomForBytes(publishedBytes, 0);
}

/** The deployments of a project that are not among the newest `kept`; the served one always is. */
async function listOld(tx: Transaction, accountId: number, projectId: number, servedId: number | null, kept: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(sql`
    SELECT id FROM deployments WHERE account_id = ${accountId} AND project_id = ${projectId} AND status <> 'queued'
      AND id <> ${servedId ?? 0} ORDER BY id DESC LIMIT 1000 OFFSET ${servedId === null ? kept : kept - 1}`);
  return rows.map(({ id }) => id);
}

/** Frees the content of every deployment of a project that is being deleted. */
export async function freeFilesOf(tx: Transaction, accountId: number, projectId: number): Promise<void> {
  const rows = await tx.query<{ id: number }>(
    sql`SELECT id FROM deployments WHERE account_id = ${accountId} AND project_id = ${projectId}`,
  );
  if (rows.length > 0)
    await freeFiles(
      tx,
      accountId,
      rows.map(({ id }) => id),
    );
}

/** Allows the content of deployments to be removed, and no longer counts its bytes. */
function freeFiles(tx: Transaction, accountId: number, ids: readonly number[]): Promise<void> {
  return changePublishedBytes(tx, accountId, async () => {
    const bytes = await bytesOnlyIn(tx, accountId, ids);
    const ofThese = sql`account_id = ${accountId} AND deployment_id IN (${join(ids)})`;
    await tx.query(sql`
      INSERT INTO unused_files (hash) SELECT DISTINCT hash FROM files WHERE ${ofThese} ORDER BY hash ON CONFLICT (hash) DO NOTHING`);
    await tx.query(sql`DELETE FROM files WHERE ${ofThese}`);
    return -bytes;
  });
}

/** Marks content that may be removed unless a deployment needs it. */
export async function noteUnusedFiles(tx: Transaction, hashes: readonly string[]): Promise<void> {
  for (let i = 0; i < hashes.length; i += hashesAtOnce) {
    const rows = hashes
      .slice(i, i + hashesAtOnce)
      .toSorted()
      .map((hash) => [hash]);
    await tx.query(sql`INSERT INTO unused_files (hash) VALUES ${bulk(rows)} ON CONFLICT (hash) DO NOTHING`);
  }
}

export async function hasUnusedFiles(db: Queryable): Promise<boolean> {
  return (await db.query(sql`SELECT 1 FROM unused_files LIMIT 1`)).length > 0;
}

/** Looks at up to `limit` marks of unused content: deletes those that are `needed` again. None of the other `hashes` can be claimed before commit. */
export async function listUnusedFiles(tx: Transaction, limit: number): Promise<{ hashes: string[]; needed: number }> {
  await tx.lock(contentLock);
  const marks = await tx.query<{ hash: string; needed: number | boolean }>(sql`
    SELECT hash, EXISTS (SELECT 1 FROM files WHERE files.hash = unused_files.hash)
      OR EXISTS (SELECT 1 FROM photo_files WHERE photo_files.hash = unused_files.hash)
      OR EXISTS (SELECT 1 FROM bin_photo_files WHERE bin_photo_files.hash = unused_files.hash) AS needed
    FROM unused_files ORDER BY hash ${limitTo(limit)}`);
  const hashesOf = (needed: boolean): string[] => marks.filter((mark) => Boolean(mark.needed) === needed).map(({ hash }) => hash);
  const needed = hashesOf(true);
  await deleteUnusedFiles(tx, needed);
  return { hashes: hashesOf(false), needed: needed.length };
}

/** Deletes the marks of removed content. */
export async function deleteUnusedFiles(tx: Transaction, hashes: string[]): Promise<void> {
  if (hashes.length > 0) await tx.query(sql`DELETE FROM unused_files WHERE hash IN (${join(hashes)})`);
}

export type StoredDeployment = {
  id: number;
  accountId: number;
  projectId: number;
  status: DeploymentStatus;
  error: string | null;
  files: number;
  bytes: number;
  version: number;
  createdAt: number;
  leftOut: Deployment["leftOut"];
};

type DeploymentRow = {
  account_id: number;
  id: number;
  project_id: number;
  status: DeploymentStatus;
  error: string | null;
  files: number;
  bytes: number;
  version: number;
  created_at: number;
  left_out: number;
  left_out_paths: string;
};

export const columns = sql`account_id, id, project_id, status, error, files, bytes, version, created_at, left_out, left_out_paths`;

export function deploymentFromRow(row: DeploymentRow): StoredDeployment {
  const { account_id: accountId, id, project_id: projectId, status, error, files, bytes, version, created_at: createdAt } = row;
  const leftOut = { count: row.left_out, paths: JSON.parse(row.left_out_paths) as string[] };
  return { accountId, id, projectId, status, error, files, bytes, version, createdAt, leftOut };
}

/** A deployment as its events record it: as in the API, but without the address, which depends on the project's slug. */
export function recordedDeployment({
  id,
  projectId,
  status,
  error,
  files,
  bytes,
  createdAt,
  leftOut,
}: StoredDeployment): Omit<Deployment, "url"> {
  return { id, projectId, status, error, files, bytes, leftOut, createdAt: formatDateTime(createdAt) };
}

export type EndedRow = DeploymentRow & { uploaded_by: string | null; upload_request_id: string | null };

/** Records that a deployment is ready or has failed, with its uploader as the actor. */
export function recordEnd(tx: Transaction, type: "deployment.ready" | "deployment.failed", row: EndedRow): void {
  const data = recordedDeployment(deploymentFromRow(row));
  const previous = fieldsBefore({ ...data, status: "queued", error: null, files: 0, bytes: 0, leftOut: { count: 0, paths: [] } }, data);
  const origin = { actor: actorOfText(row.uploaded_by), requestId: row.upload_request_id };
  tx.record(
    { accountId: row.account_id, type, resource: { type: "deployment", id: row.id }, data, previous, version: row.version },
    origin,
  );
}

/** Records that a project serves an earlier deployment again. */
export function recordPromotion(tx: Transaction, deployment: StoredDeployment): void {
  const { accountId, id, version } = deployment;
  const data = recordedDeployment(deployment);
  tx.record({ accountId, type: "deployment.promoted", resource: { type: "deployment", id }, data, version });
}
