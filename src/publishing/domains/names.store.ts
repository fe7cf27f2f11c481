import { isDeepStrictEqual } from "node:util";
import sql, { join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { redirectsMax } from "../projects/project-file.ts";
import { recordNames } from "../projects/projects.store.ts";
import { redirectOf, type DomainRow } from "./domains.store.ts";
import { domainsMax, paidPlans } from "./domains.ts";
import { configuredPrimary, type SiteName } from "./redirects.ts";
import type { DomainStatus, NameState } from "./serving.ts";

/** A name of a project, with the state that decides what it and the names that redirect to it serve. */
export type StoredName = NameState & { hostname: string; primary: boolean; becomesPrimary: boolean };

const columns = sql`project_id, hostname, status, is_primary, becomes_primary, redirect_to, redirect_status, certificate_id, certificate_expires_at`;
const isPrimary = sql`(is_primary OR becomes_primary)`;

/** Locks a project's names until commit; the caller has locked the project. Returns them in the form that the redirect rules use. */
export async function lockNames(
  tx: Transaction,
  { accountId, projectId }: { accountId: number; projectId: number },
  isReady: (name: NameState) => boolean,
): Promise<SiteName[]> {
  const rows = await tx.query<DomainRow>(sql`
    SELECT ${columns} FROM domains
    WHERE account_id = ${accountId} AND project_id = ${projectId} ORDER BY id ${limitTo(domainsMax)}${tx.forUpdate}`);
  return rows.map((row) => {
    const name = nameOf(row);
    const { hostname, primary, becomesPrimary, redirect } = name;
    // `ready` ignores the redirect: a name loses it when it becomes the primary name.
    return { hostname, primary, becomesPrimary, redirect, status: name.status, ready: isReady({ ...name, redirect: null }) };
  });
}

/** Saves the primary name and the redirects of a project where they differ from `before`. */
export async function saveNames(
  tx: Transaction,
  { accountId, projectId }: { accountId: number; projectId: number },
  before: readonly SiteName[],
  after: readonly SiteName[],
): Promise<void> {
  const known = new Map(before.map((name) => [name.hostname, name]));
  for (const { hostname, primary, becomesPrimary, redirect } of after) {
    const was = known.get(hostname);
    const sameRedirect = was?.redirect?.to === redirect?.to && was?.redirect?.status === redirect?.status;
    if (sameRedirect && was?.primary === primary && was.becomesPrimary === becomesPrimary) continue;
    await tx.query(sql`
      UPDATE domains SET is_primary = ${primary}, becomes_primary = ${becomesPrimary}, redirect_to = ${redirect?.to ?? null},
        redirect_status = ${redirect?.status ?? null}, version = version + 1
      WHERE account_id = ${accountId} AND hostname = ${hostname}`);
  }
  const [was, is] = [configurationOf(before), configurationOf(after)];
  if (!isDeepStrictEqual(was, is)) await recordNames(tx, { accountId, projectId }, [was, is]);
}

/** The configuration of a project's names, as `GET /projects/{projectId}` shows it. */
function configurationOf(names: readonly SiteName[]) {
  const redirects = names.flatMap(({ hostname: from, redirect }) => (redirect ? [{ from, ...redirect }] : []));
  return { primary: configuredPrimary(names), redirects: redirects.toSorted((a, b) => (a.from < b.from ? -1 : 1)) };
}

/** Makes a name primary if it was waiting to become ready. Returns whether it did. */
export async function promoteToPrimary(tx: Transaction, accountId: number, hostname: string): Promise<boolean> {
  const [row] = await tx.query<{ project_id: number }>(sql`
    UPDATE domains SET is_primary = ${true}, becomes_primary = ${false}, version = version + 1
    WHERE account_id = ${accountId} AND hostname = ${hostname} AND becomes_primary RETURNING project_id`);
  if (!row) return false;
  await tx.query(sql`
    UPDATE domains SET is_primary = ${false}, version = version + 1
    WHERE account_id = ${accountId} AND project_id = ${row.project_id} AND is_primary AND hostname <> ${hostname}`);
  return true;
}

/** The other facts that decide what a project's names serve. `primaries`: the primary name, and a name that waits to become it. */
export type ProjectContext = {
  isPaid: boolean;
  redirectToPrimary: boolean;
  primaries: StoredName[];
  /** The requested names that are attached to the project. */
  targets: StoredName[];
};

export async function readProjectContext(
  db: Queryable,
  { accountId, projectId }: { accountId: number; projectId: number },
  targets: string[],
): Promise<ProjectContext> {
  const where = sql`account_id = ${accountId} AND project_id = ${projectId}`;
  const [project] = await db.query<{ plan: string; redirect_to_primary: number | boolean }>(sql`
    SELECT a.plan, p.redirect_to_primary FROM projects p JOIN accounts a ON a.id = p.account_id
    WHERE p.account_id = ${accountId} AND p.id = ${projectId}`);
  return {
    isPaid: paidPlans.has(project?.plan ?? ""),
    redirectToPrimary: Boolean(project?.redirect_to_primary),
    primaries: await select(db, sql`${where} AND ${isPrimary}`),
    targets: targets.length === 0 ? [] : await select(db, sql`${where} AND hostname IN (${join(targets)})`),
  };
}

/** The names in the configuration of an account's projects: the primary ones, and the first redirects by name. */
export type ConfiguredNames = { isPaid: boolean; byProject: Map<number, { primaries: StoredName[]; redirects: StoredName[] }> };

export async function readConfigured(db: Queryable, accountId: number, projectIds: number[]): Promise<ConfiguredNames> {
  const byProject: ConfiguredNames["byProject"] = new Map(projectIds.map((id) => [id, { primaries: [], redirects: [] }]));
  if (projectIds.length === 0) return { isPaid: false, byProject };
  const where = sql`account_id = ${accountId} AND project_id IN (${join(projectIds)})`;
  const [account] = await db.query<{ plan: string }>(sql`SELECT plan FROM accounts WHERE id = ${accountId}`);
  const primaries = await db.query<DomainRow>(sql`SELECT ${columns} FROM domains WHERE ${where} AND ${isPrimary}`);
  const redirects = await db.query<DomainRow>(sql`
    SELECT ${columns} FROM (
      SELECT ${columns}, ROW_NUMBER() OVER (PARTITION BY project_id ORDER BY hostname) AS place
      FROM domains WHERE ${where} AND redirect_to IS NOT NULL
    ) AS numbered WHERE place <= ${redirectsMax} ORDER BY project_id, hostname`);
  for (const row of primaries) byProject.get(Number(row["project_id"]))?.primaries.push(nameOf(row));
  for (const row of redirects) byProject.get(Number(row["project_id"]))?.redirects.push(nameOf(row));
  return { isPaid: paidPlans.has(account?.plan ?? ""), byProject };
}

async function select(db: Queryable, where: Sql): Promise<StoredName[]> {
  return (await db.query<DomainRow>(sql`SELECT ${columns} FROM domains WHERE ${where}`)).map(nameOf);
}

/** The names of a project that redirect to `to`, in order. */
export async function listRedirectsTo(
  tx: Transaction,
  { accountId, projectId }: { accountId: number; projectId: number },
  to: string,
): Promise<string[]> {
  const rows = await tx.query<{ hostname: string }>(sql`
    SELECT hostname FROM domains WHERE account_id = ${accountId} AND project_id = ${projectId} AND redirect_to IS NOT NULL
      AND redirect_to = ${to} ORDER BY hostname ${limitTo(domainsMax)}`);
  return rows.map(({ hostname }) => hostname);
}

function nameOf(row: DomainRow): StoredName {
  return {
    hostname: String(row["hostname"]),
    status: row["status"] as DomainStatus,
    primary: Boolean(row["is_primary"]),
    becomesPrimary: Boolean(row["becomes_primary"]),
    redirect: redirectOf(row),
    certificateId: row["certificate_id"] as number | null,
    certificateExpiresAt: row["certificate_expires_at"] as number | null,
  };
}
