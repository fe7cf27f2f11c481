import type { Queryable } from "../../platform/db/database.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { attentionFor, type Attention } from "./attention.ts";
import type { Checks } from "./checks.ts";
import type { Domain } from "./domains.ts";
import { isAttached, type StoredDomain } from "./domains.store.ts";
import { recordFor } from "./hostnames.ts";
import { redirectProblem } from "./redirects.ts";

const moment = (time: number | null): string | null => (time === null ? null : formatDateTime(time));

/** A domain as an answer shows it at `now`, and the version of that: the attention comes by time alone, so it counts. */
export async function shownDomain(
  db: Queryable,
  checks: Checks,
  domain: StoredDomain,
  now: number,
): Promise<{ body: Domain; version: number }> {
  const { certificate, redirect } = domain;
  const attention = attentionOf(domain, now);
  const targetThere = redirect !== null && (await isAttached(db, domain.accountId, domain.projectId, redirect.to));
  const broken = targetThere ? null : redirectProblem(domain, []);
  const body: Domain = {
    hostname: domain.hostname,
    projectId: domain.projectId,
    kind: domain.kind,
    status: domain.status,
    primary: domain.primary,
    redirect,
    record: recordFor(domain, checks.own.platformDomain),
    challenge: domain.proofNeeded ? checks.challengeOf(domain) : null,
    problems: broken === null ? domain.problems : [...domain.problems, broken],
    certificate: {
      status: certificate.status,
      issuedAt: moment(certificate.issuedAt),
      expiresAt: moment(certificate.expiresAt),
      problem: certificate.problem,
      retryAt: moment(certificate.retryAt),
    },
    attention: attention && { ...attention, since: formatDateTime(attention.since) },
    nextCheckAt: moment(domain.nextCheckAt),
    createdAt: formatDateTime(domain.createdAt),
    verifiedAt: moment(domain.verifiedAt),
  };
  return { body, version: versionOf(domain, now) };
}

/** The version of a domain as it is shown at `now`. */
export function versionOf(domain: StoredDomain, now: number): number {
  return domain.version * 2 + (attentionOf(domain, now) === null ? 0 : 1);
}

function attentionOf({ hostname, status, caa, certificate }: StoredDomain, now: number): Attention | null {
  const hasCertificate = certificate.id !== null && (certificate.expiresAt ?? 0) > now;
  const { wantedSince, problem } = certificate;
  return attentionFor({ hostname, status, hasCertificate, wantedSince, caa, certificateProblem: problem }, now);
}
