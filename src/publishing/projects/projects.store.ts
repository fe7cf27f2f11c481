import { isDeepStrictEqual } from "node:util";
import sql from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { limitTo, writeInBatches } from "../../platform/db/batches.ts";
import { breaks, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { type EventDraft, fieldsBefore } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { byId, invalidAt, Problem } from "../../platform/problem.ts";
import { deleteDeployments, freeFilesOf } from "./deployments.store.ts";
import { projectsMax } from "./projects.ts";

export type StoredProject = {
  id: number;
  accountId: number;
  name: string;
  slug: string;
  deploymentId: number | null;
  hsts: boolean;
  redirectToPrimary: boolean;
  version: number;
  createdAt: number;
};

type ProjectRow = {
  account_id: number;
  id: number;
  name: string;
  slug: string;
  deployment_id: number | null;
  hsts: number | boolean;
  redirect_to_primary: number | boolean;
  version: number;
  created_at: number;
};

const columns = sql`account_id, id, name, slug, deployment_id, hsts, redirect_to_primary, version, created_at`;

export async function listProjects(db: Queryable, accountId: number, afterId: number, limit: number): Promise<StoredProject[]> {
  const rows = await db.query<ProjectRow>(sql`
    SELECT ${columns} FROM projects WHERE account_id = ${accountId} AND id > ${afterId} ORDER BY id ${limitTo(limit)}`);
  return rows.map(fromRow);
}

/** @throws Problem `not_found` */
export async function findProject(db: Queryable, accountId: number, id: number): Promise<StoredProject> {
  return requireRow(await db.query<ProjectRow>(sql`SELECT ${columns} FROM projects WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** Locks a project until commit. @throws Problem `not_found` */
export async function lockProject(tx: Transaction, accountId: number, id: number): Promise<StoredProject> {
  const rows = await tx.query<ProjectRow>(sql`
    SELECT ${columns} FROM projects WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return requireRow(rows, id);
}

/** The project to which a domain is attached. */
type ProjectOf = { accountId: number; projectId: number };

/**
 * Locks a project until commit, if it exists. A transaction that locks several names of a project, or changes one of them
 * twice, locks the project first: otherwise it could deadlock with a change of other names or with the project's deletion.
 */
export async function lockProjectOf(tx: Transaction, { accountId, projectId }: ProjectOf): Promise<void> {
  await tx.query(sql`SELECT 1 FROM projects WHERE account_id = ${accountId} AND id = ${projectId}${tx.forUpdate}`);
}

/** The same without waiting. Returns false if another transaction has locked the project, or if it does not exist. */
export async function tryLockProjectOf(tx: Transaction, { accountId, projectId }: ProjectOf): Promise<boolean> {
  const rows = await tx.query(sql`
    SELECT 1 FROM projects WHERE account_id = ${accountId} AND id = ${projectId}${tx.skipLocked("projects")}`);
  return rows.length > 0;
}

/** @throws Problem `slug_taken`, `invalid_request` if the account has too many projects */
export async function insertProject(
  tx: Transaction,
  accountId: number,
  { name, slug }: { name: string; slug: string },
  now: number,
): Promise<StoredProject> {
  await tx.lock(`projects of ${accountId}`);
  const [count] = await tx.query<{ n: number }>(sql`SELECT COUNT(*) AS n FROM projects WHERE account_id = ${accountId}`);
  if (Number(count?.n) >= projectsMax)
    throw invalidAt("body", "is one project too many", `The account has ${projectsMax} projects already.`);
  const rows = await tx
    .query<ProjectRow>(
      sql`
    INSERT INTO projects (account_id, id, name, slug, version, created_at)
    VALUES (${accountId}, nextval('project_ids'), ${name}, ${slug}, 1, ${now}) RETURNING ${columns}`,
    )
    .catch(slugTaken(slug));
  await requireFree(tx, accountId, slug, now);
  const made = requireRow(rows, 0);
  tx.record(eventOf("project.created", made));
  return made;
}

/** Saves a change to a locked project, unless nothing changes. @throws Problem `slug_taken` */
export async function updateProject(
  tx: Transaction,
  before: StoredProject,
  change: Partial<Pick<StoredProject, "name" | "slug" | "hsts" | "redirectToPrimary">>,
  now: number,
): Promise<StoredProject> {
  const { accountId, id } = before;
  const { name = before.name, slug = before.slug, hsts = before.hsts, redirectToPrimary = before.redirectToPrimary } = change;
  if (isDeepStrictEqual({ ...before, name, slug, hsts, redirectToPrimary }, before)) return before;
  if (slug !== before.slug) await keepSlug(tx, accountId, id, now);
  const rows = await tx
    .query<ProjectRow>(
      sql`
    UPDATE projects SET name = ${name}, slug = ${slug}, hsts = ${hsts}, redirect_to_primary = ${redirectToPrimary},
      version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`,
    )
    .catch(slugTaken(slug));
  if (slug !== before.slug) await requireFree(tx, accountId, slug, now);
  const updated = requireRow(rows, id);
  recordUpdate(tx, before, updated);
  return updated;
}

/** Sets the deployment that a project serves. */
export async function switchDeployment(tx: Transaction, accountId: number, id: number, deploymentId: number): Promise<void> {
  const before = await lockProject(tx, accountId, id);
  const rows = await tx.query<ProjectRow>(sql`
    UPDATE projects SET deployment_id = ${deploymentId}, version = version + 1 WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`);
  recordUpdate(tx, before, requireRow(rows, id));
}

/** Records that the primary name or the redirects of a project have changed; `names` are those before and after. */
export async function recordNames(
  tx: Transaction,
  { accountId, projectId }: ProjectOf,
  names: [before: object, after: object],
): Promise<void> {
  const event = eventOf("project.updated", await findProject(tx, accountId, projectId));
  tx.record({ ...event, data: { ...event.data, domains: names[1] }, previous: { domains: names[0] } });
}

function recordUpdate(tx: Transaction, before: StoredProject, after: StoredProject): void {
  const event = eventOf("project.updated", after);
  const previous = fieldsBefore(eventOf("project.updated", before).data, event.data);
  if (Object.keys(previous).length > 0) tx.record({ ...event, previous });
}

/** The project without the fields that depend on its domains and on the settings of the service. */
function eventOf(type: EventDraft["type"], project: StoredProject): EventDraft {
  const { accountId, id, name, slug, deploymentId, redirectToPrimary, hsts, createdAt, version } = project;
  const data = { id, name, slug, deploymentId, redirectToPrimary, hsts, createdAt: formatDateTime(createdAt) };
  return { accountId, type, resource: { type: "project", id }, data, version };
}

/** Deletes a project, which the caller has locked, with its deployments and domains; its content becomes free to remove. */
export async function deleteProject(tx: Transaction, accountId: number, id: number, now: number): Promise<void> {
  const project = await findProject(tx, accountId, id);
  await keepSlug(tx, accountId, id, now);
  await freeFilesOf(tx, accountId, id);
  await recordRemovedNames(tx, project);
  tx.record(eventOf("project.deleted", project));
  await tx.query(sql`DELETE FROM projects WHERE account_id = ${accountId} AND id = ${id}`);
}

async function recordRemovedNames(tx: Transaction, { accountId, id: projectId }: StoredProject): Promise<void> {
  const names = await tx.query<{ hostname: string; kind: string; status: string }>(sql`
    SELECT hostname, kind, status FROM domains WHERE account_id = ${accountId} AND project_id = ${projectId} ORDER BY id`);
  for (const { hostname, kind, status } of names) {
    const data = { hostname, projectId, kind, status };
    tx.record({ accountId, type: "domain.removed", resource: { type: "domain", id: hostname }, data });
  }
}

/** About as many files as one transaction frees: 20 ms of the embedded database's writer. */
const filesAtOnce = 2_000;

/**
 * Deletes earlier deployments of a project that is about to be deleted, the oldest first, until few files are left: in several transactions, so
 * that other writes need not wait long. Keeps the deployment that is served.
 *
 * @param check runs in each transaction, and throws if the project may not be deleted
 * @throws Problem `not_found`
 */
export async function deleteEarlierDeployments(
  db: Database,
  { accountId, projectId }: ProjectOf,
  check: (tx: Transaction, project: StoredProject) => Promise<void>,
): Promise<void> {
  for (let isMore = (await db.scan(() => earlierDeployments(db, { accountId, projectId }, null))).length > 0; isMore;) {
    isMore = await db.write(async (tx) => {
      const project = await lockProject(tx, accountId, projectId);
      await check(tx, project);
      const some = await earlierDeployments(tx, { accountId, projectId }, project.deploymentId);
      if (some.length > 0) await deleteDeployments(tx, accountId, some);
      return some.length > 0;
    });
  }
}

/** The oldest deployments of a project with as many files as one transaction frees; none if the whole project has no more. */
async function earlierDeployments(db: Queryable, { accountId, projectId }: ProjectOf, servedId: number | null): Promise<number[]> {
  const rows = await db.query<{ id: number; files: number }>(sql`
    SELECT id, files FROM deployments WHERE account_id = ${accountId} AND project_id = ${projectId} AND status <> 'queued' ORDER BY id`);
  let left = rows.reduce((sum, { files }) => sum + files, 0);
  const end = left - filesAtOnce;
  const some: number[] = [];
  for (const { id, files } of rows) {
    if (left <= filesAtOnce || left <= end) break;
    if (id === servedId) continue;
    some.push(id);
    left -= files;
  }
  return some;
}

const deletedAtOnce = 5;

/** Deletes every project of an account, a few in each transaction, so that other writes need not wait long; `announce` runs at the end of each. */
export async function deleteProjectsOf(
  db: Database,
  accountId: number,
  now: number,
  announce: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  for (let left = deletedAtOnce; left === deletedAtOnce;) {
    for (const { id: projectId } of await db.scan(() => listProjects(db, accountId, 0, deletedAtOnce)))
      await deleteEarlierDeployments(db, { accountId, projectId }, async () => undefined);
    left = await db.write(async (tx) => {
      const some = await listProjects(tx, accountId, 0, deletedAtOnce);
      // Locks all of them before it deletes the first: the lock order is projects, then the account's count of published bytes.
      for (const { id: projectId } of some) await lockProjectOf(tx, { accountId, projectId });
      for (const { id } of some) await deleteProject(tx, accountId, id, now);
      if (some.length > 0) await announce(tx);
      return some.length;
    });
  }
}

const takenProblem = (slug: string): Problem => new Problem("slug_taken", `The slug ${slug} is taken.`);

const slugTaken =
  (slug: string) =>
  (error: unknown): never => {
    if (!breaks("unique", error)) throw error;
    throw takenProblem(slug);
  };

async function requireFree(tx: Transaction, accountId: number, slug: string, now: number): Promise<void> {
  if (await isKeptForAnother(tx, slug, accountId, now)) throw takenProblem(slug);
}

function requireRow(rows: ProjectRow[], id: number): StoredProject {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("project", id)}.`);
  return fromRow(row);
}

function fromRow(row: ProjectRow): StoredProject {
  return {
    accountId: row.account_id,
    id: row.id,
    name: row.name,
    slug: row.slug,
    deploymentId: row.deployment_id,
    hsts: Boolean(row.hsts),
    redirectToPrimary: Boolean(row.redirect_to_primary),
    version: row.version,
    createdAt: row.created_at,
  };
}

/**
 * For this long, only its former account may take a freed slug: browsers keep the site's pages and service workers, and
 * its certificates stay valid.
 */
const keptMs = 30 * dayMs;
/** The most slugs kept for one account; a further one replaces the one that was freed first. */
const keptMax = 1_000;

/** Keeps the slug of a project for its account, in the transaction that deletes or renames the project. */
async function keepSlug(tx: Transaction, accountId: number, projectId: number, now: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO freed_slugs (slug, account_id, freed_at)
    SELECT slug, account_id, CAST(${now} AS BIGINT) FROM projects WHERE account_id = ${accountId} AND id = ${projectId}
    ON CONFLICT (slug) DO UPDATE SET account_id = excluded.account_id, freed_at = excluded.freed_at`);
  await tx.query(sql`
    DELETE FROM freed_slugs WHERE account_id = ${accountId}
      AND ${keptMax} < (SELECT COUNT(*) FROM freed_slugs WHERE account_id = ${accountId})
      AND slug = (SELECT slug FROM freed_slugs WHERE account_id = ${accountId} ORDER BY freed_at, slug LIMIT 1)`);
}

/**
 * Whether a slug is kept for another account. Call it in the transaction that takes the slug, after taking it: a transaction that frees
 * the slug at the same time has committed by then.
 */
async function isKeptForAnother(tx: Transaction, slug: string, accountId: number, now: number): Promise<boolean> {
  const rows = await tx.query(sql`
    SELECT 1 FROM freed_slugs WHERE slug = ${slug} AND account_id <> ${accountId} AND freed_at > ${now - keptMs}`);
  return rows.length > 0;
}

/** Deletes the slugs that were freed more than 30 days ago. */
export async function deleteOldFreedSlugs(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM freed_slugs WHERE slug IN (SELECT slug FROM freed_slugs WHERE freed_at <= ${now - keptMs} ${limit}) RETURNING 1`,
  );
}
