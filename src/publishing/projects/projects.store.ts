import sql from "sql-template-tag";
import { breaks, type Database, type Queryable, type Transaction } from "../../platform/db/database.ts";
import { byId } from "../../platform/ids.ts";
import { Problem } from "../../platform/problem.ts";
import { projectsMax } from "./projects.ts";

export type StoredProject = {
  id: number;
  accountId: number;
  name: string;
  slug: string;
  deploymentId: number | null;
  version: number;
  createdAt: number;
};

type ProjectRow = {
  account_id: number;
  id: number;
  name: string;
  slug: string;
  deployment_id: number | null;
  version: number;
  created_at: number;
};

const columns = sql`account_id, id, name, slug, deployment_id, version, created_at`;

export async function listProjects(db: Queryable, accountId: number, afterId: number, limit: number): Promise<StoredProject[]> {
  const rows = await db.query<ProjectRow>(sql`
    SELECT ${columns} FROM projects WHERE account_id = ${accountId} AND id > ${afterId} ORDER BY id LIMIT ${limit}`);
  return rows.map(stored);
}

/** @throws Problem `not_found` */
export async function findProject(db: Queryable, accountId: number, id: number): Promise<StoredProject> {
  return one(await db.query<ProjectRow>(sql`SELECT ${columns} FROM projects WHERE account_id = ${accountId} AND id = ${id}`), id);
}

/** The project, locked until the transaction ends. @throws Problem `not_found` */
export async function lockProject(tx: Transaction, accountId: number, id: number): Promise<StoredProject> {
  const rows = await tx.query<ProjectRow>(sql`
    SELECT ${columns} FROM projects WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
  return one(rows, id);
}

/** @throws Problem `slug_taken`, `invalid_request` where the account has as many as it may */
export async function insertProject(
  tx: Transaction,
  accountId: number,
  { name, slug }: { name: string; slug: string },
  now: number,
): Promise<StoredProject> {
  await tx.lock(`projects of ${accountId}`);
  const [count] = await tx.query<{ n: number }>(sql`SELECT COUNT(*) AS n FROM projects WHERE account_id = ${accountId}`);
  if (Number(count?.n) >= projectsMax) throw new Problem("invalid_request", `The account has ${projectsMax} projects already.`);
  const rows = await tx
    .query<ProjectRow>(
      sql`
    INSERT INTO projects (account_id, id, name, slug, version, created_at)
    VALUES (${accountId}, nextval('project_ids'), ${name}, ${slug}, 1, ${now}) RETURNING ${columns}`,
    )
    .catch(slugTaken(slug));
  return one(rows, 0);
}

/** @throws Problem `slug_taken` */
export async function updateProject(tx: Transaction, { accountId, id, name, slug }: StoredProject): Promise<StoredProject> {
  const rows = await tx
    .query<ProjectRow>(
      sql`
    UPDATE projects SET name = ${name}, slug = ${slug}, version = version + 1
    WHERE account_id = ${accountId} AND id = ${id} RETURNING ${columns}`,
    )
    .catch(slugTaken(slug));
  return one(rows, id);
}

/** Serves another deployment from now on. */
export async function switchDeployment(tx: Transaction, accountId: number, id: number, deploymentId: number): Promise<void> {
  await tx.query(sql`
    UPDATE projects SET deployment_id = ${deploymentId}, version = version + 1 WHERE account_id = ${accountId} AND id = ${id}`);
}

/** Deletes a project, which the caller has locked, with its deployments and domains; its content becomes free to remove. */
export async function deleteProject(tx: Transaction, accountId: number, id: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO unused_files (hash)
    SELECT DISTINCT f.hash FROM files f JOIN deployments d ON d.account_id = f.account_id AND d.id = f.deployment_id
    WHERE d.account_id = ${accountId} AND d.project_id = ${id} ORDER BY hash
    ON CONFLICT (hash) DO NOTHING`);
  await tx.query(sql`DELETE FROM projects WHERE account_id = ${accountId} AND id = ${id}`);
}

const deletedAtOnce = 50;

/** Deletes every project of an account, some at a time, so that nobody's writes wait for a large one; `announce` ends each transaction. */
export async function deleteProjectsOf(db: Database, accountId: number, announce: (tx: Transaction) => Promise<unknown>): Promise<void> {
  for (let left = deletedAtOnce; left === deletedAtOnce;) {
    left = await db.write(async (tx) => {
      const some = await listProjects(tx, accountId, 0, deletedAtOnce);
      for (const { id } of some) {
        await tx.query(sql`SELECT 1 FROM projects WHERE account_id = ${accountId} AND id = ${id}${tx.forUpdate}`);
        await deleteProject(tx, accountId, id);
      }
      if (some.length > 0) await announce(tx);
      return some.length;
    });
  }
}

const slugTaken =
  (slug: string) =>
  (error: unknown): never => {
    if (!breaks("unique", error)) throw error;
    throw new Problem("slug_taken", `The slug ${slug} is taken.`);
  };

function one(rows: ProjectRow[], id: number): StoredProject {
  const [row] = rows;
  if (!row) throw new Problem("not_found", `There is no ${byId("project", id)}.`);
  return stored(row);
}

function stored(row: ProjectRow): StoredProject {
  const { account_id: accountId, id, name, slug, deployment_id: deploymentId, version, created_at: createdAt } = row;
  return { accountId, id, name, slug, deploymentId, version, createdAt };
}
