import type { Change } from "../../platform/nodes/nodes.ts";
import { decryptSecret } from "../certificates/certificates.ts";
import { findCertificate, findCertificateById } from "../certificates/certificates.store.ts";
import { hstsSeconds, isReady, servedAt, servingOf, type ServingContext, type Serving } from "../domains/domains.ts";
import type { KeyPair, Site } from "../edge/edge.ts";
import {
  domainsIn,
  emptyState,
  projectsIn,
  setChallenges,
  setDomains,
  setProjects,
  type HostParts,
  type HostState,
  type LiveSite,
} from "./host-state.ts";
import { readChallenges, readDomains, readProjects, type Scope } from "./hosts.store.ts";

export type Hosts = ReturnType<typeof openHosts>;

const platformCertificateId = "platform";

/**
 * Answers the edge, at each request and handshake, how a host is served: from memory, without a query. The map is empty until the first
 * `applyChange` and is kept up to date by changes, applied one after another, so that the latest read wins. Once `applyChange` resolves,
 * nothing that was removed is served here. While `isLive` returns false, nothing is served.
 */
export function openHosts(parts: HostParts) {
  const state = emptyState(parts);
  const { isLive, challenges } = state;
  return {
    sites: { get: (host: string) => (isLive() ? siteAt(state, host) : unknown) },
    hstsSeconds: (host: string) => (isLive() ? hstsSecondsOf(state, host) : undefined),
    certificates: {
      current: (host: string) => (isLive() ? currentCertificate(state, host) : undefined),
      load: (id: string, host: string) => loadCertificate(state, id, host),
    },
    challenges: {
      http: (host: string, token: string) => (isLive() ? challenges.get(host)?.tokens.get(token) : undefined),
      tlsAlpn: (host: string) => (isLive() ? challenges.get(host)?.pair : undefined),
    },
    applyChange: (change: Change | undefined) => applyChange(state, change),
    onLeaseLost: () => dropAll(state),
  };
}

const unknown: Site = { status: "unknown" };
const suspended: Site = { status: "suspended" };

function siteAt(state: HostState, host: string): Site | undefined {
  const domain = state.domains.get(host);
  const projectId = domain?.projectId ?? state.slugs.get(host) ?? 0;
  const project = state.projects.get(projectId);
  if (project?.site === undefined) return undefined;
  const around = aroundOf(state, projectId, { redirectToPrimary: project.redirectToPrimary, isPaid: domain?.suspended !== true });
  return siteOf(domain === undefined ? servedAt(host, null, around) : servingOf(domain, around), project.site);
}

function aroundOf(
  { domains, primaries, hasAuthority, clock }: HostState,
  projectId: number,
  project: Pick<ServingContext, "redirectToPrimary" | "isPaid">,
): ServingContext {
  // A target that now belongs to another project is not where the owner of this name wanted to send visitors.
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
    get manifest() {
      return site.manifest;
    },
  };
}

function hstsSecondsOf({ domains, projects, clock }: HostState, host: string): number | undefined {
  const domain = domains.get(host);
  const isSent = domain !== undefined && !domain.suspended && projects.get(domain.projectId)?.hsts === true;
  return isSent && domain.verifiedSince !== null ? hstsSeconds(domain.verifiedSince, clock()) : undefined;
}

function currentCertificate({ domains, slugs, platformCertificate }: HostState, host: string): string | undefined {
  const domain = domains.get(host);
  if (domain !== undefined) return domain.suspended || domain.certificateId === null ? undefined : String(domain.certificateId);
  return platformCertificate !== null && slugs.has(host) ? platformCertificateId : undefined;
}

async function loadCertificate(state: HostState, id: string, host: string): Promise<KeyPair | undefined> {
  const { db, keys, platformCertificate } = state;
  if (id === platformCertificateId) return platformCertificate ?? undefined;
  const certificate = (await findCertificateById(db, Number(id))) ?? (await findRenewed(state, host));
  return certificate === null ? undefined : { cert: certificate.chain, key: decryptSecret(keys, certificate.key, certificate.hostname) };
}

/** A renewal replaces a certificate, and this node may not have heard of the change yet. */
async function findRenewed({ db, domains }: HostState, host: string) {
  const domain = domains.get(host);
  return domain === undefined ? null : findCertificate(db, domain.accountId, host);
}

async function applyChange(state: HostState, change: Change | undefined): Promise<void> {
  const { db } = state;
  const scope = scopeOf(change);
  if (scope === "nothing") return;
  const [domainRows, projectRows, challengeRows] = await Promise.all([
    readDomains(db, scope),
    scope !== undefined && "hostname" in scope ? undefined : readProjects(db, scope),
    scope === undefined || "hostname" in scope ? readChallenges(db, scope?.hostname) : undefined,
  ]);
  const projects = projectsIn(state, scope);
  setDomains(state, domainsIn(state, scope, projects), domainRows);
  if (projectRows) setProjects(state, projects, projectRows);
  if (challengeRows) setChallenges(state, scope && "hostname" in scope ? [scope.hostname] : [...state.challenges.keys()], challengeRows);
}

/** The part of the map that a change concerns; all of it for an unknown kind, which a newer version of the program may send. */
function scopeOf(change: Change | undefined): Scope | "nothing" {
  const [first = 0, second] = (change?.subject ?? "").split("/").map(Number);
  if (change?.kind === "domain") return { hostname: change.subject };
  if (change?.kind === "project" && second !== undefined) return { accountId: first, projectId: second };
  if (change?.kind === "account") return { accountId: first };
  return change?.kind === "key" ? "nothing" : undefined;
}

/** Closes every connection, because this node no longer knows what it may serve. */
function dropAll({ domains, slugs, drop }: HostState): void {
  for (const host of domains.keys()) drop(host);
  for (const host of slugs.keys()) drop(host);
}
