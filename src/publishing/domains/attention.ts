import type { DomainStatus } from "./schedule.ts";

export const attentionChecks = ["still_verifies", "caa_allows", "re_verify"] as const;

/** `passed` is null if the check could not be made. */
type AttentionCheck = { check: (typeof attentionChecks)[number]; passed: boolean | null; message: string };
export type Attention = { since: number; message: string; checks: AttentionCheck[] };

/** How long (ms) a certificate may take (specification 5.8). */
export const certificateDueMs = 30 * 60_000;

/**
 * What an owner should look at when a certificate has expired or is 30 minutes late (specification 5.8); null before that, and if there is a valid
 * certificate or none is wanted. `expiredAt` (ms): when the last certificate expired; null if there was none. `wantedSince` (ms) is when the name was verified, or when Re-verify last asked for a certificate; null without an authority.
 */
export function attentionFor(
  domain: {
    hostname: string;
    status: DomainStatus;
    hasCertificate: boolean;
    expiredAt: number | null;
    wantedSince: number | null;
    caa: "allowed" | "blocked" | "unknown";
    certificateProblem: string | null;
  },
  now: number,
): Attention | null {
  const { hostname, wantedSince, expiredAt } = domain;
  if (domain.hasCertificate || wantedSince === null || domain.status === "pending") return null;
  const since = expiredAt ?? wantedSince + certificateDueMs;
  if (now < since) return null;
  const checks = [stillVerifies(domain.status, hostname), caaAllows(domain.caa, hostname), reVerify(domain.certificateProblem)];
  const late = expiredAt === null ? "is more than 30 minutes late" : "has expired";
  const message = `The certificate of ${hostname} ${late}. ${checks.map((check) => check.message).join(" ")}`;
  return { since, message, checks };
}

function stillVerifies(status: DomainStatus, hostname: string): AttentionCheck {
  const passed = status === "verified";
  const message = passed
    ? `1. ${hostname} still verifies.`
    : `1. ${hostname} no longer verifies: correct its DNS records as described under its problems.`;
  return { check: "still_verifies", passed, message };
}

const caaWords = {
  allowed: "allow the certificate authority.",
  blocked: "block the certificate authority: its problems say who can correct them, and how.",
  unknown: "could not be looked up. Until they can, the certificate authority refuses.",
};

function caaAllows(caa: "allowed" | "blocked" | "unknown", hostname: string): AttentionCheck {
  return {
    check: "caa_allows",
    passed: caa === "unknown" ? null : caa === "allowed",
    message: `2. The CAA records of ${hostname} ${caaWords[caa]}`,
  };
}

function reVerify(certificateProblem: string | null): AttentionCheck {
  const reason = certificateProblem === null ? "" : ` The last try ended with: ${certificateProblem}`;
  return { check: "re_verify", passed: null, message: `3. When both are right, use Re-verify to order the certificate again.${reason}` };
}
