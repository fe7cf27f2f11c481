import sql, { empty, join, type Sql } from "sql-template-tag";
import { createCache, type Cache } from "../../platform/cache.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable } from "../../platform/db/database.ts";
import { decryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import { paidPlans } from "../domains/domains.ts";
import type { DomainStatus, NameState } from "../domains/serving.ts";
import type { KeyPair, LiveSite, Log } from "../edge/site.ts";
import { type Manifest, manifestFromText } from "../projects/content.ts";
import type { RedirectStatusCode } from "../projects/project-file.ts";
import type { Storefront } from "../storefront/storefront.ts";

export type HostParts = {
  db: Database;
  clock: Clock;
  keys: SecretsKeys;
  log: Log;
  /** Whether this node may use what it has in memory. */
  isLive: () => boolean;
  /** Whether certificates are ordered for custom domains. */
  hasAuthority: boolean;
  platformDomain: string;
  /** The host of PUBLIC_URL if this service orders its certificate; otherwise null. */
  serviceHost: string | null;
  /** The operator's wildcard certificate for the platform's own names. */
  platformCertificate: KeyPair | null;
  /** Closes the connections to a host that is no longer served, or no longer by the same project. */
  drop: (host: string) => void;
  /** How many characters of manifests are kept parsed. Default: `manifestCharsMax`. */
  manifestChars?: number;
};

type Project = { accountId: number; host: string; hsts: boolean; redirectToPrimary: boolean; site: LiveSite | undefined };
type Challenge = { tokens: Map<string, string>; pair: KeyPair | undefined };

/** All hosts that are served, in memory. */
export type HostState = HostParts & {
  /** Parsed manifests, by a key of the site or deployment. */
  manifests: Cache<string, Manifest>;
  sitesMade: number;
  /** How many times the platform's certificate was replaced. */
  platformCertificates: number;
  projects: Map<number, Project>;
  /** Project by host name on the platform. */
  slugs: Map<string, number>;
  /** Custom domains that were verified once, and the host of PUBLIC_URL, by host name. */
  domains: Map<string, DomainRow>;
  domainsOf: Map<number, Set<string>>;
  /** Primary name by project. */
  primaries: Map<number, string>;
  projectsOf: Map<number, Set<number>>;
  /** Challenges of the certificate authority, by host name. */
  challenges: Map<string, Challenge>;
};

/** A parsed manifest takes about two bytes for each character. */
const manifestCharsMax = 64 * 1024 * 1024;

export function emptyState(parts: HostParts): HostState {
  return {
    ...parts,
    manifests: createCache<string, Manifest>(parts.manifestChars ?? manifestCharsMax),
    sitesMade: 0,
    platformCertificates: 0,
    projects: new Map(),
    slugs: new Map(),
    domains: new Map(),
    domainsOf: new Map(),
    primaries: new Map(),
    projectsOf: new Map(),
    challenges: new Map(),
  };
}

/** The known projects that a change concerns. */
export function projectsIn({ projects, projectsOf }: HostState, scope: Scope): number[] {
  if (scope === undefined) return [...projects.keys()];
  if ("hostname" in scope) return [];
  const ids = scope.projectId === undefined ? [...(projectsOf.get(scope.accountId) ?? [])] : [scope.projectId];
  return ids.filter((id) => projects.get(id)?.accountId === scope.accountId);
}

/** The known domains that a change concerns. */
export function domainsIn({ domains, domainsOf }: HostState, scope: Scope, projects: number[]): string[] {
  if (scope === undefined) return [...domains.keys()];
  if ("hostname" in scope) return domains.has(scope.hostname) ? [scope.hostname] : [];
  return projects.flatMap((id) => [...(domainsOf.get(id) ?? [])]);
}

/** Sets the projects of `rows`, and forgets those of `known` that are not among them. */
export function setProjects(state: HostState, known: number[], rows: ProjectRow[]): void {
  for (const row of rows) setProject(state, row);
  const present = new Set(rows.map(({ id }) => id));
  for (const id of known) if (!present.has(id)) forgetProject(state, id);
}

function setProject(state: HostState, row: ProjectRow): void {
  const { id, accountId, slug, hsts, redirectToPrimary } = row;
  const host = `${slug}.${state.platformDomain}`;
  const before = state.projects.get(id);
  state.projects.set(id, {
    accountId,
    host,
    hsts,
    redirectToPrimary,
    site: liveSite(state, row),
  });
  state.slugs.set(host, id);
  setOf(state.projectsOf, accountId).add(id);
  if (before !== undefined && before.host !== host) forgetSlug(state, before.host, id);
}

/** Parses the manifest at its first use, and again if it was evicted: visitors rarely open most sites of a large platform. */
function liveSite(state: HostState, row: ProjectRow): LiveSite | undefined {
  const { accountId, id: projectId, manifest: text } = row;
  if (text === null) return undefined;
  const { manifests } = state;
  state.sitesMade += 1;
  const key = String(state.sitesMade);
  return {
    status: "live",
    accountId,
    projectId,
    ...shopOf(row),
    get manifest() {
      return manifests.get(key) ?? manifests.set(key, manifestFromText(text), text.length);
    },
  };
}

/**
 * What a ready deployment of a project serves, whether or not it is live; undefined if the project no longer has it. Only the settings of the live one
 * decide about reservations, so any other takes none.
 */
export async function findDeployed(
  state: HostState,
  { accountId, projectId }: { accountId: number; projectId: number },
  id: number,
): Promise<LiveSite | undefined> {
  const key = `deployment ${accountId}/${id}`;
  const known = state.manifests.get(key);
  const row = await readDeployment(state.db.as({ caller: accountId }), { accountId, projectId, id }, known === undefined);
  if (row === undefined) return undefined;
  const manifest = known ?? manifestFromText(row.manifest ?? "[]");
  if (known === undefined) state.manifests.set(key, manifest, row.manifest?.length);
  const { shop } = shopOf(row);
  const shown = shop && { ...shop, settings: row.isLive ? shop.settings : { ...shop.settings, reservations: undefined } };
  return { status: "live", accountId, projectId, ...(shown && { shop: shown }), manifest };
}

/** The storefront of a deployment, if it has one. */
function shopOf({ accountId, name, storefront }: Pick<ProjectRow, "accountId" | "name" | "storefront">): { shop?: Storefront } {
  if (storefront === null) return {};
  const given = JSON.parse(storefront) as Pick<Storefront, "settings"> & { name?: string };
  return { shop: { accountId, name: given.name ?? name, settings: given.settings } };
}

function forgetProject(state: HostState, id: number): void {
  const project = state.projects.get(id);
  if (project === undefined) return;
  state.projects.delete(id);
  state.projectsOf.get(project.accountId)?.delete(id);
  forgetSlug(state, project.host, id);
}

function forgetSlug({ slugs, drop }: HostState, host: string, id: number): void {
  if (slugs.get(host) === id) slugs.delete(host);
  drop(host);
}

/** Sets the domains of `rows`, and forgets those of `known` that are not among them. */
export function setDomains(state: HostState, known: string[], rows: DomainRow[]): void {
  for (const row of rows) setDomain(state, row);
  const present = new Set(known.length === 0 ? [] : rows.map(({ hostname }) => hostname));
  for (const hostname of known) if (!present.has(hostname)) forgetDomain(state, hostname);
}

function setDomain(state: HostState, row: DomainRow): void {
  const before = state.domains.get(row.hostname);
  if (before !== undefined && before.projectId !== row.projectId) forgetDomain(state, row.hostname);
  state.domains.set(row.hostname, row);
  setOf(state.domainsOf, row.projectId).add(row.hostname);
  if (row.primary) state.primaries.set(row.projectId, row.hostname);
  else forgetPrimary(state, row);
  if (row.suspended && before?.suspended === false) state.drop(row.hostname);
}

function forgetDomain(state: HostState, hostname: string): void {
  const domain = state.domains.get(hostname);
  if (domain === undefined) return;
  state.domains.delete(hostname);
  state.domainsOf.get(domain.projectId)?.delete(hostname);
  forgetPrimary(state, domain);
  state.drop(hostname);
}

function forgetPrimary({ primaries }: HostState, { projectId, hostname }: DomainRow): void {
  if (primaries.get(projectId) === hostname) primaries.delete(projectId);
}

/** Replaces the challenges of `known` by those of `rows`. */
export function setChallenges({ challenges, keys, log }: HostState, known: string[], rows: ChallengeRow[]): void {
  for (const hostname of known) challenges.delete(hostname);
  for (const row of rows) {
    const challenge = challenges.get(row.hostname) ?? { tokens: new Map<string, string>(), pair: undefined };
    challenge.tokens.set(row.token, row.keyAuthorization);
    challenge.pair ??= pairOf(row, keys, log);
    challenges.set(row.hostname, challenge);
  }
}

/** If a key cannot be decrypted, only its own order fails. */
function pairOf({ hostname, certificate, certificateKey }: ChallengeRow, keys: SecretsKeys, log: Log): KeyPair | undefined {
  if (certificate === null || certificateKey === null) return undefined;
  try {
    return { cert: certificate, key: decryptSecret(keys, certificateKey, hostname) };
  } catch (error) {
    log.error({ err: error, host: hostname }, "a challenge cannot be answered");
    return undefined;
  }
}

function setOf<K, V>(map: Map<K, Set<V>>, key: K): Set<V> {
  const set = map.get(key) ?? new Set<V>();
  map.set(key, set);
  return set;
}

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
async function readDeployment(
  db: Queryable,
  { accountId, projectId, id }: { accountId: number; projectId: number; id: number },
  withManifest: boolean,
): Promise<(Pick<ProjectRow, "accountId" | "name" | "storefront" | "manifest"> & { isLive: boolean }) | undefined> {
  const rows = await db.query<{ name: string; storefront: string | null; manifest: string | null; live_id: number | null }>(sql`
    SELECT p.name, p.deployment_id AS live_id, d.storefront, ${withManifest ? sql`d.manifest` : sql`NULL AS manifest`} FROM deployments d
    JOIN projects p ON p.account_id = d.account_id AND p.id = d.project_id
    WHERE d.account_id = ${accountId} AND d.id = ${id} AND d.project_id = ${projectId} AND d.status = 'ready'`);
  const [row] = rows;
  return row && { accountId, ...row, isLive: row.live_id === id };
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
