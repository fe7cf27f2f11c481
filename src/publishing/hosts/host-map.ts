import { X509Certificate } from "node:crypto";
import type { Change } from "../../platform/nodes/nodes.ts";
import { decryptSecret } from "../../platform/secrets.ts";
import { findCertificate, findCertificateById } from "../certificates/certificates.store.ts";
import { hstsSeconds, isReady, servedAt, type Serving, type ServingContext, servingOf } from "../domains/serving.ts";
import { deploymentAt } from "../edge/requests.ts";
import type { KeyPair, LiveSite, Site } from "../edge/site.ts";
import { photosHost } from "../photos/photos.ts";
import {
  domainsIn,
  emptyState,
  findDeployed,
  projectsIn,
  setChallenges,
  setDomains,
  setProjects,
  type HostParts,
  type HostState,
  readChallenges,
  readDomains,
  readProjects,
  type Scope,
} from "./host-state.ts";

export type Hosts = ReturnType<typeof openHosts>;

const platformCertificatePrefix = "platform";

/**
 * Tells the edge, at each request and handshake, how to serve a host: from memory, without a query. The map is empty until the first
 * `applyChange`. The node applies changes one after another, so that the latest read wins. Once `applyChange` resolves, nothing that was removed
 * is served here. While `isLive` returns false, nothing is served except this service's own host.
 */
export function openHosts(parts: HostParts) {
  const state = emptyState(parts);
  const { isLive, challenges } = state;
  // The host of PUBLIC_URL is served even while this node may not serve sites, because nobody can take that host over.
  const isServed = (host: string): boolean => isLive() || host === state.serviceHost;
  return {
    sites: { get: (host: string) => (isServed(host) ? siteAt(state, host) : unknown) },
    hstsSeconds: (host: string) => (isServed(host) ? hstsSecondsOf(state, host) : undefined),
    certificates: {
      current: (host: string) => (isServed(host) ? currentCertificate(state, host) : undefined),
      load: (id: string, host: string) => loadCertificate(state, id, host),
    },
    challenges: {
      http: (host: string, token: string) => (isLive() ? challenges.get(host)?.tokens.get(token) : undefined),
      tlsAlpn: (host: string) => (isLive() ? challenges.get(host)?.pair : undefined),
    },
    /** Uses another certificate for the platform's own names from the next handshake on. */
    setPlatformCertificate: (pair: KeyPair | null) => setPlatformCertificate(state, pair),
    applyChange: (change: Change | undefined) => applyChange(state, change),
    onLeaseLost: () => dropAll(state),
  };
}

const unknown: Site = { status: "unknown" };
const own: Site = { status: "own" };
const suspended: Site = { status: "suspended" };

function siteAt(state: HostState, host: string): Site | undefined {
  if (host === state.serviceHost) return own;
  const domain = state.domains.get(host);
  const projectId = domain?.projectId ?? state.slugs.get(host) ?? 0;
  const project = state.projects.get(projectId);
  if (project === undefined) return deploymentSite(state, host);
  if (project.site === undefined) return undefined;
  const context = servingContext(state, projectId, { redirectToPrimary: project.redirectToPrimary, isPaid: domain?.suspended !== true });
  return siteOf(domain === undefined ? servedAt(host, null, context) : servingOf(domain, context), project.site);
}

/** The site at the address of a deployment of a known project; undefined for any other host. `find` reads the deployment from the database. */
function deploymentSite(state: HostState, host: string): Site | undefined {
  const named = deploymentAt(host, state.platformDomain);
  const projectId = named && state.slugs.get(named.projectHost);
  const project = projectId === undefined ? undefined : state.projects.get(projectId);
  if (named === undefined || projectId === undefined || project === undefined) return undefined;
  const owner = { accountId: project.accountId, projectId };
  return { status: "deployment", projectId, find: () => findDeployed(state, owner, named.id) };
}

function servingContext(
  { domains, primaries, hasAuthority, clock }: HostState,
  projectId: number,
  project: Pick<ServingContext, "redirectToPrimary" | "isPaid">,
): ServingContext {
  // A target that has moved to another project is not ready: the owner of this name never chose that project's site.
  const isReadyName = (hostname: string): boolean => {
    const target = domains.get(hostname);
    return target?.projectId === projectId && !target.suspended && isReady(target, hasAuthority, clock());
  };
  const primary = primaries.get(projectId);
  return { ...project, primary: primary !== undefined && isReadyName(primary) ? primary : null, isReady: isReadyName };
}

function siteOf(serving: Serving, site: LiveSite): Site {
  if (serving.what === "nothing") return suspended;
  if (serving.what === "redirect") return { status: "redirect", to: serving.to, code: serving.status };
  if (serving.canonical === null) return site;
  const { canonical } = serving;
  return {
    status: "live",
    canonical,
    ...(site.accountId !== undefined && { accountId: site.accountId }),
    ...(site.projectId !== undefined && { projectId: site.projectId }),
    ...(site.shop !== undefined && { shop: site.shop }),
    get manifest() {
      return site.manifest;
    },
  };
}

function hstsSecondsOf({ domains, projects, serviceHost, clock }: HostState, host: string): number | undefined {
  const domain = domains.get(host);
  const isSent = domain !== undefined && !domain.suspended && (host === serviceHost || projects.get(domain.projectId)?.hsts === true);
  return isSent && domain.verifiedSince !== null ? hstsSeconds(domain.verifiedSince, clock()) : undefined;
}

function setPlatformCertificate(state: HostState, pair: KeyPair | null): void {
  state.platformCertificate = pair;
  state.platformCertificates += 1; // the edge caches a certificate by its id
}

function fits(pem: string, host: string, now: number): boolean {
  const certificate = new X509Certificate(pem);
  return certificate.checkHost(host) !== undefined && certificate.validToDate.getTime() > now;
}

/** In place of a certificate of the host of PUBLIC_URL that is missing or has expired, the operator's wildcard is served if it fits. */
function currentCertificate(state: HostState, host: string): string | undefined {
  const { domains, slugs, serviceHost, platformCertificate, platformCertificates, clock } = state;
  const ofPlatform = platformCertificatePrefix + platformCertificates;
  const domain = domains.get(host);
  if (host === serviceHost && platformCertificate !== null && (domain?.certificateExpiresAt ?? 0) <= clock()) {
    if (fits(platformCertificate.cert, host, clock())) return ofPlatform;
  }
  if (domain !== undefined) return domain.suspended || domain.certificateId === null ? undefined : String(domain.certificateId);
  const photosAt = `${photosHost}.${state.platformDomain}`;
  const isServed = slugs.has(host) || host === photosAt || slugs.has(deploymentAt(host, state.platformDomain)?.projectHost ?? "");
  return platformCertificate !== null && isServed ? ofPlatform : undefined;
}

async function loadCertificate(state: HostState, id: string, host: string): Promise<KeyPair | undefined> {
  const { db, keys, domains, platformCertificate } = state;
  if (id.startsWith(platformCertificatePrefix)) return platformCertificate ?? undefined;
  const domain = domains.get(host);
  if (domain === undefined) return undefined;
  // A renewal may have replaced a certificate before this node applied the change.
  const certificate = (await findCertificateById(db, domain.accountId, Number(id))) ?? (await findCertificate(db, domain.accountId, host));
  return certificate === null ? undefined : { cert: certificate.chain, key: decryptSecret(keys, certificate.key, certificate.hostname) };
}

async function applyChange(state: HostState, change: Change | undefined): Promise<void> {
  const { db, serviceHost } = state;
  const scope = scopeOf(change);
  if (scope === "nothing") return;
  const [domainRows, projectRows, challengeRows] = await Promise.all([
    readDomains(db, scope, serviceHost),
    scope !== undefined && "hostname" in scope ? undefined : readProjects(db, scope),
    scope === undefined || "hostname" in scope ? readChallenges(db, scope?.hostname) : undefined,
  ]);
  const projects = projectsIn(state, scope);
  setDomains(state, domainsIn(state, scope, projects), domainRows);
  if (projectRows) setProjects(state, projects, projectRows);
  if (challengeRows) setChallenges(state, scope && "hostname" in scope ? [scope.hostname] : [...state.challenges.keys()], challengeRows);
}

/** The part of the map that a change concerns; all of it (undefined) for an unknown kind, which a newer version of the program may send. */
function scopeOf(change: Change | undefined): Scope | "nothing" {
  const [first = 0, second] = (change?.subject ?? "").split("/").map(Number);
  if (change?.kind === "domain") return { hostname: change.subject };
  if (change?.kind === "project" && second !== undefined) return { accountId: first, projectId: second };
  if (change?.kind === "account") return { accountId: first };
  return change?.kind === "key" ? "nothing" : undefined;
}

/** Closes every connection to a site, because this node no longer knows what it may serve. */
function dropAll({ domains, slugs, serviceHost, drop }: HostState): void {
  for (const host of domains.keys()) if (host !== serviceHost) drop(host);
  for (const host of slugs.keys()) drop(host);
}
