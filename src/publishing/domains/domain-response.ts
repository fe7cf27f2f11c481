import type { Queryable } from "../../platform/db/database.ts";
import { versionOfShown } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { attentionFor, type Attention } from "./attention.ts";
import { isReadyAt, ownershipRecordOf, type Checks } from "./checks.ts";
import { planProblem, redirectProblem } from "./domain-problems.ts";
import type { Domain } from "./domains.ts";
import type { StoredDomain } from "./domains.store.ts";
import { recordFor } from "../dns/dns.ts";
import { readSurroundings, type StoredName, type Surroundings } from "./names.store.ts";
import { configuredPrimary } from "./primary-name.ts";
import { servingOf, type Around, type Serving } from "./serving.ts";
import { servingReason, takenReason } from "./serving-words.ts";

/** A domain as an answer shows it, and the version of that. */
export type ShownDomain = { body: Domain; version: string };

const moment = (time: number | null): string | null => (time === null ? null : formatDateTime(time));

/** A domain as an answer shows it at `now`. */
export async function shownDomain(db: Queryable, checks: Checks, domain: StoredDomain, now: number): Promise<ShownDomain> {
  const [shown] = await shownDomains(db, checks, [domain], now);
  return shown!;
}

/** Domains of one project as an answer shows them at `now`, with as many queries as for one. */
export async function shownDomains(db: Queryable, checks: Checks, domains: StoredDomain[], now: number): Promise<ShownDomain[]> {
  const [first] = domains;
  if (first === undefined) return [];
  const targets = new Set(domains.flatMap(({ redirect }) => redirect?.to ?? []));
  const surroundings = await readSurroundings(db, first, [...targets]);
  return domains.map((domain) => {
    const body = bodyOf(domain, checks, surroundings, now);
    return { body, version: versionOfShown(domain.version, body) };
  });
}

function bodyOf(domain: StoredDomain, checks: Checks, surroundings: Surroundings, now: number): Domain {
  const attention = attentionOf(domain, now);
  return {
    hostname: domain.hostname,
    projectId: domain.projectId,
    kind: domain.kind,
    status: domain.status,
    primary: configuredPrimary(surroundings.primaries) === domain.hostname,
    redirect: domain.redirect,
    record: recordFor(domain, checks.own.platformDomain),
    challenge: domain.proofNeeded ? ownershipRecordOf(checks, domain) : null,
    problems: problemsOf(domain, checks, surroundings, now),
    serving: shownServing(domain, checks, surroundings, now),
    certificate: shownCertificate(domain, surroundings.isPaid, now),
    attention: attention && { ...attention, since: formatDateTime(attention.since) },
    nextCheckAt: moment(domain.nextCheckAt),
    createdAt: formatDateTime(domain.createdAt),
    verifiedAt: moment(domain.verifiedAt),
  };
}

function problemsOf(domain: StoredDomain, checks: Checks, { isPaid, targets }: Surroundings, now: number): Domain["problems"] {
  const problems = isPaid ? [...domain.problems] : [planProblem(domain.hostname), ...domain.problems];
  const { redirect } = domain;
  if (redirect === null) return problems;
  const target = targets.find(({ hostname }) => hostname === redirect.to);
  if (target === undefined || !isReadyAt(checks, target, now))
    problems.push(redirectProblem(domain.hostname, redirect.to, target, checks.authority !== null));
  return problems;
}

function shownServing(domain: StoredDomain, checks: Checks, surroundings: Surroundings, now: number): Domain["serving"] {
  if (domain.isLost) return { what: "nothing", to: null, reason: takenReason(domain.hostname) };
  const ready = (name: StoredName): boolean => isReadyAt(checks, name, now);
  const { isPaid, redirectToPrimary, primaries, targets } = surroundings;
  const around: Around = {
    isPaid,
    redirectToPrimary,
    primary: primaries.find((name) => name.primary && ready(name))?.hostname ?? null,
    isReady: (hostname) => targets.some((name) => name.hostname === hostname && ready(name)),
  };
  const serving: Serving = servingOf(domain, around);
  const { what } = serving;
  return { what, to: serving.what === "redirect" ? serving.to : null, reason: servingReason(domain, serving) };
}

/** A certificate that is looked at now is being issued: what the try before ended with is over. */
function shownCertificate({ status: domainStatus, caa, certificate }: StoredDomain, isPaid: boolean, now: number): Domain["certificate"] {
  const { status, dueAt } = certificate;
  const isTriedNow = status === "failing" && isPaid && domainStatus === "verified" && caa === "allowed" && dueAt !== null && dueAt <= now;
  const isIssuing = status === "issuing" || isTriedNow;
  return {
    status: isIssuing ? "issuing" : status,
    issuedAt: moment(certificate.issuedAt),
    expiresAt: moment(certificate.expiresAt),
    problem: isIssuing ? null : certificate.problem,
    retryAt: isIssuing ? null : moment(certificate.retryAt),
  };
}

function attentionOf({ hostname, status, caa, certificate }: StoredDomain, now: number): Attention | null {
  const hasCertificate = certificate.id !== null && (certificate.expiresAt ?? 0) > now;
  const { wantedSince, problem } = certificate;
  return attentionFor({ hostname, status, hasCertificate, wantedSince, caa, certificateProblem: problem }, now);
}
