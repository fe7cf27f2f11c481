import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { createLru } from "../../platform/lru.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import { decryptSecret, type SecretsKeys } from "../certificates/certificates.ts";
import { findCertificate, findCertificateById } from "../certificates/certificates.store.ts";
import { hstsSeconds, isReady, servedAt, servingOf, type Around, type Serving } from "../domains/domains.ts";
import type { KeyPair, Log, Site } from "../edge/edge.ts";
import { manifestFromText, type Manifest } from "../projects/projects.ts";
import {
  readChallenges,
  readDomains,
  readProjects,
  type ChallengeRow,
  type DomainRow,
  type ProjectRow,
  type Scope,
} from "./hosts.store.ts";

export type HostParts = {
  db: Database;
  clock: Clock;
  keys: SecretsKeys;
  log: Log;
  /** Whether what is known here may be used. */
  isLive: () => boolean;
  /** Whether certificates are ordered for custom domains. */
  hasAuthority: boolean;
  platformDomain: string;
  /** The operator's wildcard for the platform's own names. */
  platformCertificate: KeyPair | null;
  /** Cuts the connections that speak to a host which is not served, or not by the same project, any more. */
  drop: (host: string) => void;
  /** The most manifests that are kept parsed, in characters of their texts. Default: `manifestCharsMax`. */
  manifestChars?: number;
};

type Project = { accountId: number; host: string; hsts: boolean; redirectToPrimary: boolean; site: LiveSite | undefined };
type LiveSite = Extract<Site, { status: "live" }>;
type Challenge = { tokens: Map<string, string>; pair: KeyPair | undefined };

/** As the edge reads it a manifest takes about twice as many bytes. */
const manifestCharsMax = 64 * 1024 * 1024;
const platformCertificateId = "platform";

/**
 * Which host is served how: the edge asks at every request and handshake and is answered from memory. It holds nothing until `applyChange` is first
 * called, and is kept up by changes, one after another, so that what was read last always wins. When `applyChange` resolves, nothing of what has
 * gone is served here; while `isLive` says no, nothing is.
 */
export function openHosts(parts: HostParts) {
  const { db, clock, keys, log, isLive, hasAuthority, platformDomain, platformCertificate, drop, manifestChars = manifestCharsMax } = parts;
  const manifests = createLru<Manifest>(manifestChars);
  let sitesMade = 0;
  const projects = new Map<number, Project>();
  const slugs = new Map<string, number>();
  const domains = new Map<string, DomainRow>();
  const domainsOf = new Map<number, Set<string>>();
  const primaries = new Map<number, string>();
  const projectsOf = new Map<number, Set<number>>();
  const challenges = new Map<string, Challenge>();

  function site(host: string): Site | undefined {
    const domain = domains.get(host);
    const projectId = domain?.projectId ?? slugs.get(host) ?? 0;
    const project = projects.get(projectId);
    if (project?.site === undefined) return undefined;
    const around = aroundOf(projectId, project, domain?.suspended !== true);
    return siteOf(domain === undefined ? servedAt(host, null, around) : servingOf(domain, around), project.site);
  }

  function aroundOf(projectId: number, { redirectToPrimary }: Project, isPaid: boolean): Around {
    // A target that has come to another project is not where the owner of this name sends people.
    const isReadyName = (hostname: string): boolean => {
      const target = domains.get(hostname);
      return target?.projectId === projectId && !target.suspended && isReady(target, hasAuthority, clock());
    };
    const primary = primaries.get(projectId);
    return { isPaid, redirectToPrimary, primary: primary !== undefined && isReadyName(primary) ? primary : null, isReady: isReadyName };
  }

  function hstsSecondsOf(host: string): number | undefined {
    const domain = domains.get(host);
    const isTold = domain !== undefined && !domain.suspended && projects.get(domain.projectId)?.hsts === true;
    return isTold && domain.verifiedSince !== null ? hstsSeconds(domain.verifiedSince, clock()) : undefined;
  }

  function currentCertificate(host: string): string | undefined {
    const domain = domains.get(host);
    if (domain !== undefined) return domain.suspended || domain.certificateId === null ? undefined : String(domain.certificateId);
    return platformCertificate !== null && slugs.has(host) ? platformCertificateId : undefined;
  }

  async function loadCertificate(id: string, host: string): Promise<KeyPair | undefined> {
    if (id === platformCertificateId) return platformCertificate ?? undefined;
    const certificate = (await findCertificateById(db, Number(id))) ?? (await renewedCertificate(host));
    return certificate === null ? undefined : { cert: certificate.chain, key: decryptSecret(keys, certificate.key, certificate.hostname) };
  }

  /** A renewal puts another in the place of a certificate, and the word of it may still be on its way here. */
  async function renewedCertificate(host: string) {
    const domain = domains.get(host);
    return domain === undefined ? null : findCertificate(db, domain.accountId, host);
  }

  async function applyChange(change: Change | undefined): Promise<void> {
    const scope = scopeOf(change);
    if (scope === "nothing") return;
    const [domainRows, projectRows, challengeRows] = await Promise.all([
      readDomains(db, scope),
      scope !== undefined && "hostname" in scope ? undefined : readProjects(db, scope),
      scope === undefined || "hostname" in scope ? readChallenges(db, scope?.hostname) : undefined,
    ]);
    const known = projectsIn(scope);
    setDomains(domainsIn(scope, known), domainRows);
    if (projectRows) setProjects(known, projectRows);
    if (challengeRows) setChallenges(scope && "hostname" in scope ? [scope.hostname] : [...challenges.keys()], challengeRows);
  }

  /** Projects that are known here of what a change names. */
  function projectsIn(scope: Scope): number[] {
    if (scope === undefined) return [...projects.keys()];
    if ("hostname" in scope) return [];
    const ids = scope.projectId === undefined ? [...(projectsOf.get(scope.accountId) ?? [])] : [scope.projectId];
    return ids.filter((id) => projects.get(id)?.accountId === scope.accountId);
  }

  function domainsIn(scope: Scope, known: number[]): string[] {
    if (scope === undefined) return [...domains.keys()];
    if ("hostname" in scope) return domains.has(scope.hostname) ? [scope.hostname] : [];
    return known.flatMap((id) => [...(domainsOf.get(id) ?? [])]);
  }

  function setProjects(known: number[], rows: ProjectRow[]): void {
    for (const row of rows) setProject(row);
    const there = new Set(rows.map(({ id }) => id));
    for (const id of known) if (!there.has(id)) forgetProject(id);
  }

  function setProject({ id, accountId, slug, hsts, redirectToPrimary, manifest }: ProjectRow): void {
    const host = `${slug}.${platformDomain}`;
    const before = projects.get(id);
    projects.set(id, { accountId, host, hsts, redirectToPrimary, site: manifest === null ? undefined : liveSite(manifest) });
    slugs.set(host, id);
    within(projectsOf, accountId).add(id);
    if (before !== undefined && before.host !== host) forgetSlug(before.host, id);
  }

  /** Its manifest is read at its first use, and again after a while without: most of a large platform's sites are asked for seldom. */
  function liveSite(text: string): LiveSite {
    const key = String(++sitesMade);
    const read = (): Manifest => {
      const manifest = manifestFromText(text);
      manifests.set(key, manifest, text.length);
      return manifest;
    };
    return {
      status: "live",
      get manifest() {
        return manifests.get(key) ?? read();
      },
    };
  }

  function forgetProject(id: number): void {
    const project = projects.get(id);
    if (project === undefined) return;
    projects.delete(id);
    projectsOf.get(project.accountId)?.delete(id);
    forgetSlug(project.host, id);
  }

  function forgetSlug(host: string, id: number): void {
    if (slugs.get(host) === id) slugs.delete(host);
    drop(host);
  }

  function setDomains(known: string[], rows: DomainRow[]): void {
    for (const row of rows) setDomain(row);
    const there = new Set(known.length === 0 ? [] : rows.map(({ hostname }) => hostname));
    for (const hostname of known) if (!there.has(hostname)) forgetDomain(hostname);
  }

  function setDomain(row: DomainRow): void {
    const before = domains.get(row.hostname);
    if (before !== undefined && before.projectId !== row.projectId) forgetDomain(row.hostname);
    domains.set(row.hostname, row);
    within(domainsOf, row.projectId).add(row.hostname);
    if (row.primary) primaries.set(row.projectId, row.hostname);
    else forgetPrimary(row);
    if (row.suspended && before?.suspended === false) drop(row.hostname);
  }

  function forgetDomain(hostname: string): void {
    const domain = domains.get(hostname);
    if (domain === undefined) return;
    domains.delete(hostname);
    domainsOf.get(domain.projectId)?.delete(hostname);
    forgetPrimary(domain);
    drop(hostname);
  }

  function forgetPrimary({ projectId, hostname }: DomainRow): void {
    if (primaries.get(projectId) === hostname) primaries.delete(projectId);
  }

  function setChallenges(known: string[], rows: ChallengeRow[]): void {
    for (const hostname of known) challenges.delete(hostname);
    for (const row of rows) {
      const one = challenges.get(row.hostname) ?? { tokens: new Map<string, string>(), pair: undefined };
      one.tokens.set(row.token, row.keyAuthorization);
      one.pair ??= pairOf(row);
      challenges.set(row.hostname, one);
    }
  }

  /** One that cannot be decrypted fails its order, and nothing else. */
  function pairOf({ hostname, certificate, certificateKey }: ChallengeRow): KeyPair | undefined {
    if (certificate === null || certificateKey === null) return undefined;
    try {
      return { cert: certificate, key: decryptSecret(keys, certificateKey, hostname) };
    } catch (error) {
      log.error({ err: error, host: hostname }, "a challenge cannot be answered");
      return undefined;
    }
  }

  /** Cuts every connection, because this node no longer knows what it may serve. */
  function onLeaseLost(): void {
    for (const host of domains.keys()) drop(host);
    for (const host of slugs.keys()) drop(host);
  }

  return {
    sites: { get: (host: string) => (isLive() ? site(host) : unknown) },
    hstsSeconds: (host: string) => (isLive() ? hstsSecondsOf(host) : undefined),
    certificates: { current: (host: string) => (isLive() ? currentCertificate(host) : undefined), load: loadCertificate },
    challenges: {
      http: (host: string, token: string) => (isLive() ? challenges.get(host)?.tokens.get(token) : undefined),
      tlsAlpn: (host: string) => (isLive() ? challenges.get(host)?.pair : undefined),
    },
    applyChange,
    onLeaseLost,
  };
}

export type Hosts = ReturnType<typeof openHosts>;

const unknown: Site = { status: "unknown" };
const suspended: Site = { status: "suspended" };

function siteOf(serving: Serving, site: LiveSite): Site {
  if (serving.what === "nothing") return suspended;
  if (serving.what === "redirect") return { status: "redirect", to: serving.to, code: serving.status };
  if (serving.canonical === null) return site;
  const { canonical } = serving;
  return {
    status: "live",
    canonical,
    get manifest() {
      return site.manifest;
    },
  };
}

function within<K, V>(map: Map<K, Set<V>>, key: K): Set<V> {
  const set = map.get(key) ?? new Set<V>();
  map.set(key, set);
  return set;
}

/** Which part of the map a change names; a kind that is not known here, from a newer version of the program, could be anything. */
function scopeOf(change: Change | undefined): Scope | "nothing" {
  const [first = 0, second] = (change?.subject ?? "").split("/").map(Number);
  if (change?.kind === "domain") return { hostname: change.subject };
  if (change?.kind === "project" && second !== undefined) return { accountId: first, projectId: second };
  if (change?.kind === "account") return { accountId: first };
  return change?.kind === "key" ? "nothing" : undefined;
}
