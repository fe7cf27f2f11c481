import type { Queryable } from "../../platform/db/database.ts";
import { versionOfShown } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { recordFor } from "../dns/hostnames.ts";
import { isReadyAt, ownershipRecordOf, type Checks } from "./checks.ts";
import type { StoredDomain } from "./domains.store.ts";
import type { Domain } from "./domains.ts";
import { readProjectContext, type StoredName, type ProjectContext } from "./names.store.ts";
import { configuredPrimary } from "./redirects.ts";
import { servingOf, type Serving } from "./serving.ts";
import { attentionOf, problemsOf, servingReason, troublesOf, type Trouble } from "./troubles.ts";

/** A domain as the API returns it, and the version of that response. */
type DomainResponse = { body: Domain; version: string };

const moment = (time: number | null): string | null => (time === null ? null : formatDateTime(time));

/** A domain as the API returns it at `now`. */
export async function domainResponse(db: Queryable, checks: Checks, domain: StoredDomain, now: number): Promise<DomainResponse> {
  const [shown] = await domainResponses(db, checks, [domain], now);
  return shown!;
}

/** Domains of one project as the API returns them at `now`, read with as many queries as one domain needs. */
export async function domainResponses(db: Queryable, checks: Checks, domains: StoredDomain[], now: number): Promise<DomainResponse[]> {
  const [first] = domains;
  if (first === undefined) return [];
  const targets = new Set(domains.flatMap(({ redirect }) => redirect?.to ?? []));
  const project = await readProjectContext(db, first, [...targets]);
  return domains.map((domain) => {
    const body = bodyOf(domain, checks, project, now);
    return { body, version: versionOfShown(domain.version, body) };
  });
}

function bodyOf(domain: StoredDomain, checks: Checks, project: ProjectContext, now: number): Domain {
  const hasAuthority = checks.authority !== null;
  const troubles = troublesOf(domain, { isPaid: project.isPaid, waitsFor: waitingRedirect(domain, checks, project, now) }, now);
  const serving = servingOfDomain(domain, checks, project, now);
  const attention = attentionOf(domain, troubles);
  return {
    hostname: domain.hostname,
    projectId: domain.projectId,
    kind: domain.kind,
    status: domain.status,
    primary: configuredPrimary(project.primaries) === domain.hostname,
    redirect: domain.redirect,
    record: recordFor(domain, checks.own.platformDomain),
    challenge: domain.proofNeeded ? ownershipRecordOf(checks, domain) : null,
    problems: problemsOf(domain, troubles, hasAuthority),
    serving: {
      what: serving.what,
      to: serving.what === "redirect" ? serving.to : null,
      reason: servingReason(domain, serving, troubles),
    },
    certificate: certificateResponse(domain, project.isPaid, troubles, now),
    attention: attention && { ...attention, since: formatDateTime(attention.since) },
    nextCheckAt: moment(domain.nextCheckAt),
    createdAt: formatDateTime(domain.createdAt),
    verifiedAt: moment(domain.verifiedAt),
  };
}

/** The redirect of a name that waits until its target is ready; null if it does not. */
function waitingRedirect({ redirect }: StoredDomain, checks: Checks, { targets }: ProjectContext, now: number) {
  if (redirect === null) return null;
  const target = targets.find(({ hostname }) => hostname === redirect.to);
  return target !== undefined && isReadyAt(checks, target, now) ? null : { to: redirect.to, target };
}

function servingOfDomain(domain: StoredDomain, checks: Checks, project: ProjectContext, now: number): Serving {
  if (domain.isLost) return { what: "nothing" };
  const ready = (name: StoredName): boolean => isReadyAt(checks, name, now);
  const { isPaid, redirectToPrimary, primaries, targets } = project;
  return servingOf(domain, {
    isPaid,
    redirectToPrimary,
    primary: primaries.find((name) => name.primary && ready(name))?.hostname ?? null,
    isReady: (hostname) => targets.some((name) => name.hostname === hostname && ready(name)),
  });
}

/**
 * A certificate that is due now counts as being issued: the result of the previous try is not shown. One that has expired is failing until another is issued.
 */
function certificateResponse(
  { status: domainStatus, caa, certificate }: StoredDomain,
  isPaid: boolean,
  troubles: readonly Trouble[],
  now: number,
): Domain["certificate"] {
  const { status, dueAt } = certificate;
  const isTriedNow = status === "failing" && isPaid && domainStatus === "verified" && caa === "allowed" && dueAt !== null && dueAt <= now;
  const hasExpired = troubles.some((trouble) => trouble.code === "certificate_missing" && trouble.hasExpired);
  const isIssuing = !hasExpired && (status === "issuing" || isTriedNow);
  return {
    status: isIssuing ? "issuing" : hasExpired ? "failing" : status,
    issuedAt: moment(certificate.issuedAt),
    expiresAt: moment(certificate.expiresAt),
    problem: isIssuing ? null : (certificate.problem ?? (hasExpired ? "The certificate has expired, and has not been renewed." : null)),
    retryAt: isIssuing ? null : moment(certificate.retryAt),
  };
}
