import type { DomainKind } from "../dns/hostnames.ts";
import type { DomainProblem } from "./troubles.ts";
import type { CertificateStatus } from "./domains.ts";
import type { Redirect } from "./redirects.ts";
import type { DomainStatus } from "./schedule.ts";

/** A row of `domains`. Times in ms since the Unix epoch. */
export type StoredDomain = {
  id: number;
  accountId: number;
  projectId: number;
  hostname: string;
  registrableDomain: string;
  kind: DomainKind;
  status: DomainStatus;
  primary: boolean;
  /** Whether it becomes the primary name once it is ready. */
  becomesPrimary: boolean;
  redirect: Redirect | null;
  problems: DomainProblem[];
  caa: "allowed" | "blocked" | "unknown";
  proofNeeded: boolean;
  nextCheckAt: number | null;
  /** Only the certificates folder changes it. */
  certificate: CertificateState;
  version: number;
  createdAt: number;
  firstVerifiedAt: number | null;
  verifiedAt: number | null;
  /** Whether another account has taken it over. */
  isLost: boolean;
};

/** The certificate of a name. `wantedSince`: when it was last requested. `dueAt`: when the certificate worker next works on the name. */
export type CertificateState = {
  id: number | null;
  status: CertificateStatus;
  issuedAt: number | null;
  expiresAt: number | null;
  problem: string | null;
  retryAt: number | null;
  wantedSince: number | null;
  dueAt: number | null;
};

/** A name before and after a check of its DNS. `isAsked`: a person requested the check, so a missing certificate is ordered now. */
export type AppliedCheck = { before: StoredDomain; after: StoredDomain; isAsked: boolean };

export type DomainRow = Record<string, number | string | boolean | null>;

/** The fields that identify a name, from a row of `domains` or `lost_domains`. */
export function identityFromRow(row: Record<string, unknown>) {
  return {
    id: Number(row["id"]),
    accountId: Number(row["account_id"]),
    projectId: Number(row["project_id"]),
    hostname: String(row["hostname"]),
    registrableDomain: String(row["registrable_domain"]),
    kind: row["kind"] as DomainKind,
  };
}

export function domainFromRow(row: DomainRow): StoredDomain {
  const time = (column: string) => row[column] as number | null;
  return {
    ...identityFromRow(row),
    status: row["status"] as DomainStatus,
    primary: Boolean(row["is_primary"]),
    becomesPrimary: Boolean(row["becomes_primary"]),
    redirect: redirectOf(row),
    problems: JSON.parse(String(row["problems"])) as DomainProblem[],
    caa: row["caa"] as StoredDomain["caa"],
    proofNeeded: Boolean(row["proof_needed"]),
    nextCheckAt: time("next_check_at"),
    certificate: {
      id: time("certificate_id"),
      status: row["certificate_status"] as CertificateStatus,
      issuedAt: time("certificate_issued_at"),
      expiresAt: time("certificate_expires_at"),
      problem: row["certificate_problem"] as string | null,
      retryAt: time("certificate_retry_at"),
      wantedSince: time("certificate_wanted_since"),
      dueAt: time("certificate_due_at"),
    },
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    firstVerifiedAt: time("first_verified_at"),
    verifiedAt: time("verified_at"),
    isLost: false,
  };
}

/** The redirect of a row of `domains`. */
export function redirectOf(row: DomainRow): Redirect | null {
  const to = row["redirect_to"] as string | null;
  return to === null ? null : { to, status: Number(row["redirect_status"]) as Redirect["status"] };
}
