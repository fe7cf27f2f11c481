import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { createCache, type Cache } from "../../platform/cache.ts";
import { decryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import type { KeyPair, Log, Site } from "../edge/site.ts";
import { type Manifest, manifestFromText } from "../projects/manifest.ts";
import type { Storefront } from "../storefront/storefront.ts";
import { readDeployment, type ChallengeRow, type DomainRow, type ProjectRow, type Scope } from "./hosts.store.ts";

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
export type LiveSite = Extract<Site, { status: "live" }>;
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

/** What a ready deployment of a project serves, whether or not it is live; undefined if the project no longer has it. */
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
  return { status: "live", accountId, projectId, ...shopOf(row), manifest };
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
