import { certificateDueMs } from "./attention.ts";
import type { DomainStatus } from "./schedule.ts";

/** Why a name needs its owner (specification 8.2). */
export type Trouble = "plan_required" | "dns_wrong" | "certificate_missing" | "certificate_not_renewed";

type Certificate = Record<"id" | "issuedAt" | "expiresAt" | "wantedSince", number | null> & { problem: string | null };

/** A renewal that still fails when less than this part of the lifetime is left is a trouble. Renewals begin when a third is left. */
const lateRenewalPart = 1 / 6;

/**
 * The troubles of a name at `now`, and `nextAt`, when time alone may bring another one (null: never). A name that was never verified has none.
 * Times in ms.
 */
export function troublesOf(
  { status, certificate }: { status: DomainStatus; certificate: Certificate },
  isPaid: boolean,
  now: number,
): { troubles: Trouble[]; nextAt: number | null } {
  if (status === "pending") return { troubles: [], nextAt: null };
  if (!isPaid) return { troubles: ["plan_required"], nextAt: null };
  const [missingAt, notRenewedAt] = certificateTroublesAt(certificate);
  const troubles: Trouble[] = [];
  if (status === "failing") troubles.push("dns_wrong");
  if (missingAt <= now) troubles.push("certificate_missing");
  else if (notRenewedAt <= now) troubles.push("certificate_not_renewed");
  const nextAt = Math.min(...[missingAt, notRenewedAt].filter((at) => at > now));
  return { troubles, nextAt: Number.isFinite(nextAt) ? nextAt : null };
}

/** When a missing certificate becomes a trouble, and when a failing renewal does. `Infinity`: never, as things stand. */
function certificateTroublesAt({ id, issuedAt, expiresAt, problem, wantedSince }: Certificate) {
  if (wantedSince === null) return [Infinity, Infinity] as const;
  if (id === null || expiresAt === null) return [wantedSince + certificateDueMs, Infinity] as const;
  const lifetime = expiresAt - (issuedAt ?? expiresAt);
  return [expiresAt, problem === null ? Infinity : expiresAt - Math.floor(lifetime * lateRenewalPart)] as const;
}
