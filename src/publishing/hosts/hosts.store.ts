import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Queryable } from "../../platform/db/database.ts";
import { paidPlans } from "../domains/domains.ts";
import type { DomainStatus } from "../domains/schedule.ts";
import type { NameState } from "../domains/serving.ts";
import type { RedirectStatusCode } from "../projects/project-file.ts";

export type ProjectRow = {
  accountId: number;
  id: number;
  slug: string;
  hsts: boolean;
  redirectToPrimary: boolean;
  manifest: string | null;
  name: string;
  /** JSON of the storefront's settings and, if it differs from the project's, its name. */
  storefront: string | null;
};

/**
 * A custom domain that was verified once, or the host of PUBLIC_URL, which counts as verified since its first certificate. `suspended` while its account's
 * plan has no custom domains.
 */
export type DomainRow = NameState & {
  hostname: string;
  accountId: number;
  projectId: number;
  primary: boolean;
  /** When it was first verified; null while its DNS has a problem. */
  verifiedSince: number | null;
  suspended: boolean;
};

export type ChallengeRow = {
  hostname: string;
  token: string;
  keyAuthorization: string;
  certificate: string | null;
  certificateKey: string | null;
};

/** The part of the map to read: all of it, or the part that a change concerns. */
export type Scope = { accountId: number; projectId?: number } | { hostname: string } | undefined;

export async function readProjects(db: Queryable, scope: Exclude<Scope, { hostname: string }>): Promise<ProjectRow[]> {
  const one = scope?.projectId === undefined ? empty : sql` AND p.id = ${scope.projectId}`;
  const rows = await db.query<{
    account_id: number;
    id: number;
    slug: string;
    hsts: number | boolean;
    redirect_to_primary: number | boolean;
    manifest: string | null;
    name: string;
    storefront: string | null;
  }>(sql`
    SELECT p.account_id, p.id, p.slug, p.hsts, p.redirect_to_primary, p.name, d.manifest, d.storefront FROM projects p
    LEFT JOIN deployments d ON d.account_id = p.account_id AND d.id = p.deployment_id
    ${scope === undefined ? empty : sql`WHERE p.account_id = ${scope.accountId}${one}`}`);
  return rows.map((row) => ({
    accountId: row.account_id,
    id: row.id,
    slug: row.slug,
    hsts: Boolean(row.hsts),
    redirectToPrimary: Boolean(row.redirect_to_primary),
    manifest: row.manifest,
    name: row.name,
    storefront: row.storefront,
  }));
}

/** What a ready deployment of a project serves, with its manifest if `withManifest`; undefined if the project does not have it. */
export async function readDeployment(
  db: Queryable,
  { accountId, projectId, id }: { accountId: number; projectId: number; id: number },
  withManifest: boolean,
): Promise<Pick<ProjectRow, "accountId" | "name" | "storefront" | "manifest"> | undefined> {
  const rows = await db.query<{ name: string; storefront: string | null; manifest: string | null }>(sql`
    SELECT p.name, d.storefront, ${withManifest ? sql`d.manifest` : sql`NULL AS manifest`} FROM deployments d
    JOIN projects p ON p.account_id = d.account_id AND p.id = d.project_id
    WHERE d.account_id = ${accountId} AND d.id = ${id} AND d.project_id = ${projectId} AND d.status = 'ready'`);
  const [row] = rows;
  return row && { accountId, ...row };
}

/** The customers' names of a part of the map, and the host of PUBLIC_URL if it belongs to that part. */
export async function readDomains(db: Queryable, scope: Scope, serviceHost: string | null): Promise<DomainRow[]> {
  const rows = await db.query<{
    hostname: string;
    account_id: number;
    project_id: number;
    redirect_to: string | null;
    redirect_status: RedirectStatusCode;
    certificate_id: number | null;
    certificate_expires_at: number | null;
    is_primary: number | boolean;
    status: DomainStatus;
    first_verified_at: number | null;
    is_paid: number | boolean;
  }>(sql`
    SELECT d.hostname, d.account_id, d.project_id, d.redirect_to, d.redirect_status, d.certificate_id, d.certificate_expires_at,
      d.is_primary, d.status, d.first_verified_at, a.plan IN (${join([...paidPlans])}) AS is_paid
    FROM domains d JOIN accounts a ON a.id = d.account_id WHERE d.status IN ('verified', 'failing')${within(scope)}
    UNION ALL SELECT d.hostname, d.account_id, d.project_id, d.redirect_to, d.redirect_status, d.certificate_id, d.certificate_expires_at,
      d.is_primary, d.status, d.first_verified_at, TRUE FROM service_domains d WHERE d.hostname = ${serviceHost}${within(scope)}`);
  return rows.map((row) => ({
    hostname: row.hostname,
    accountId: row.account_id,
    projectId: row.project_id,
    status: row.status,
    primary: Boolean(row.is_primary),
    redirect: row.redirect_to === null ? null : { to: row.redirect_to, status: row.redirect_status },
    certificateId: row.certificate_id,
    certificateExpiresAt: row.certificate_expires_at,
    verifiedSince: row.status === "verified" ? row.first_verified_at : null,
    suspended: !row.is_paid,
  }));
}

function within(scope: Scope): Sql {
  if (scope === undefined) return empty;
  if ("hostname" in scope) return sql` AND d.hostname = ${scope.hostname}`;
  return scope.projectId === undefined
    ? sql` AND d.account_id = ${scope.accountId}`
    : sql` AND d.account_id = ${scope.accountId} AND d.project_id = ${scope.projectId}`;
}

/** The challenges of one name, or of all. */
export async function readChallenges(db: Queryable, hostname?: string): Promise<ChallengeRow[]> {
  const ofName = hostname === undefined ? empty : sql`WHERE hostname = ${hostname}`;
  const rows = await db.query<{
    hostname: string;
    token: string;
    key_authorization: string;
    certificate: string | null;
    certificate_key: string | null;
  }>(sql`
    SELECT hostname, token, key_authorization, certificate, certificate_key FROM challenges ${ofName}
    UNION ALL SELECT hostname, token, key_authorization, certificate, certificate_key FROM own_challenges ${ofName}`);
  return rows.map((row) => ({
    hostname: row.hostname,
    token: row.token,
    keyAuthorization: row.key_authorization,
    certificate: row.certificate,
    certificateKey: row.certificate_key,
  }));
}
