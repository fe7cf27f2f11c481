import type { DnsVerdict } from "../dns/verification.ts";

/** `pending`: never verified yet. `failing`: was verified, but its DNS has changed; still served. */
export type DomainStatus = "pending" | "verified" | "failing";

/** The status after a check. A name that was verified never becomes pending again; `unknown` changes nothing. */
export function statusAfter(status: DomainStatus, outcome: DnsVerdict["outcome"]): DomainStatus {
  if (outcome === "unknown") return status;
  if (outcome === "verified") return "verified";
  return status === "pending" ? "pending" : "failing";
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How long a DNS change may take to become visible, and so how long a name may stay unverified (specification 5.5). */
const claimLifetimeMs = 48 * hourMs;

/** Whether a claim has lapsed: it was never verified, and reserves its name no longer. Times in ms. */
export function hasLapsed({ status, createdAt }: { status: DomainStatus; createdAt: number }, now: number): boolean {
  return status === "pending" && now >= createdAt + claimLifetimeMs;
}

/**
 * When DNS is checked next automatically, after a check at `now` (ms); null for a claim that has lapsed.
 * Pending: every minute for 10 minutes, every 10 minutes for 6 hours, hourly, and a last time at 48 hours. Verified: daily. Failing: hourly.
 */
export function nextCheckAt(domain: { status: DomainStatus; createdAt: number }, now: number): number | null {
  if (domain.status === "verified") return now + 24 * hourMs;
  if (domain.status === "failing") return now + hourMs;
  if (hasLapsed(domain, now)) return null;
  return Math.min(now + pendingIntervalMs(now - domain.createdAt), domain.createdAt + claimLifetimeMs);
}

function pendingIntervalMs(ageMs: number): number {
  if (ageMs < 10 * minuteMs) return minuteMs;
  return ageMs < 6 * hourMs ? 10 * minuteMs : hourMs;
}
