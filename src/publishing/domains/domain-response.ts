import type { Queryable } from "../../platform/db/database.ts";
import { versionOfShown } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { attentionFor, type Attention } from "./attention.ts";
import { isReadyAt, ownershipRecordOf, type Checks } from "./checks.ts";
import { planProblem, redirectProblem } from "./domain-problems.ts";
import type { Domain } from "./domains.ts";
import type { StoredDomain } from "./domain-rows.ts";
import { recordFor } from "../dns/hostnames.ts";
import { readProjectContext, type StoredName, type ProjectContext } from "./names.store.ts";
import { configuredPrimary } from "./primary-name.ts";
import { servingOf, type ServingContext, type Serving } from "./serving.ts";
import { servingReason, takenReason } from "./serving-words.ts";

/** A domain as the API returns it, and the version of that response. */
export type DomainResponse = { body: Domain; version: string };

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
  const attention = attentionOf(domain, now);
  return {
    hostname: domain.hostname,
    projectId: domain.projectId,
    kind: domain.kind,
    status: domain.status,
    primary: configuredPrimary(project.primaries) === domain.hostname,
    redirect: domain.redirect,
    record: recordFor(domain, checks.own.platformDomain),
    challenge: domain.proofNeeded ? ownershipRecordOf(checks, domain) : null,
    problems: problemsOf(domain, checks, project, now),
    serving: servingResponse(domain, checks, project, now),
    certificate: certificateResponse(domain, project.isPaid, now),
    attention: attention && { ...attention, since: formatDateTime(attention.since) },
    nextCheckAt: moment(domain.nextCheckAt),
    createdAt: formatDateTime(domain.createdAt),
    verifiedAt: moment(domain.verifiedAt),
  };
}

function problemsOf(domain: StoredDomain, checks: Checks, { isPaid, targets }: ProjectContext, now: number): Domain["problems"] {
  const problems = isPaid ? [...domain.problems] : [planProblem(domain.hostname), ...domain.problems];
  const { redirect } = domain;
  if (redirect === null) return problems;
  const target = targets.find(({ hostname }) => hostname === redirect.to);
  if (target === undefined || !isReadyAt(checks, target, now))
    problems.push(redirectProblem(domain.hostname, redirect.to, target, checks.authority !== null));
  return problems;
}

function servingResponse(domain: StoredDomain, checks: Checks, project: ProjectContext, now: number): Domain["serving"] {
  if (domain.isLost) return { what: "nothing", to: null, reason: takenReason(domain.hostname) };
  const ready = (name: StoredName): boolean => isReadyAt(checks, name, now);
  const { isPaid, redirectToPrimary, primaries, targets } = project;
  const context: ServingContext = {
    isPaid,
    redirectToPrimary,
    primary: primaries.find((name) => name.primary && ready(name))?.hostname ?? null,
    isReady: (hostname) => targets.some((name) => name.hostname === hostname && ready(name)),
  };
  const serving: Serving = servingOf(domain, context);
  const { what } = serving;
  return { what, to: serving.what === "redirect" ? serving.to : null, reason: servingReason(domain, serving) };
}

/**
 * A certificate that is due now counts as being issued: the result of the previous try is not shown. One that has expired is failing until another is issued.
 */
function certificateResponse(
  { status: domainStatus, caa, certificate }: StoredDomain,
  isPaid: boolean,
  now: number,
): Domain["certificate"] {
  const { status, dueAt } = certificate;
  const isTriedNow = status === "failing" && isPaid && domainStatus === "verified" && caa === "allowed" && dueAt !== null && dueAt <= now;
  const hasExpired = status !== "none" && certificate.id !== null && certificate.expiresAt !== null && certificate.expiresAt <= now;
  const isIssuing = !hasExpired && (status === "issuing" || isTriedNow);
  return {
    status: isIssuing ? "issuing" : hasExpired ? "failing" : status,
    issuedAt: moment(certificate.issuedAt),
    expiresAt: moment(certificate.expiresAt),
    problem: isIssuing ? null : (certificate.problem ?? (hasExpired ? "The certificate has expired, and has not been renewed." : null)),
    retryAt: isIssuing ? null : moment(certificate.retryAt),
  };
}

function attentionOf({ hostname, status, caa, certificate }: StoredDomain, now: number): Attention | null {
  const { id, expiresAt, wantedSince, problem } = certificate;
  const hasCertificate = id !== null && (expiresAt ?? 0) > now;
  const expiredAt = id === null || hasCertificate ? null : expiresAt;
  return attentionFor({ hostname, status, hasCertificate, expiredAt, wantedSince, caa, certificateProblem: problem }, now);
}
