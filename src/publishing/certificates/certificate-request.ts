import type { AppliedCheck, CertificateState } from "../domains/domain-rows.ts";

/**
 * Returns the state of a name's certificate after a check of its DNS, at `now` (ms). The certificate becomes due at once if the name has just
 * verified, if its CAA records allow the authority again after a failure, or if a person asks for a missing certificate. A missing certificate becomes due at
 * `heldUntil` instead if the service may not ask the authority before then. Its status changes from `none` (not wanted) to `issuing`.
 */
export function certificateAfterCheck(
  { before, after, isAsked }: AppliedCheck,
  { heldUntil, now }: { heldUntil: number | null; now: number },
): CertificateState {
  const { certificate } = before;
  if (after.status !== "verified") return certificate;
  const isMissing = certificate.id === null || (certificate.expiresAt ?? 0) <= now;
  const isNew = before.status !== "verified" || certificate.wantedSince === null;
  if (isMissing && (isNew || isAsked)) {
    const status = certificate.status === "none" ? "issuing" : certificate.status;
    return { ...certificate, status, wantedSince: now, dueAt: heldUntil ?? now, retryAt: heldUntil ?? certificate.retryAt };
  }
  const isAllowedAgain = (isMissing || certificate.problem !== null) && before.caa !== "allowed" && after.caa === "allowed";
  return isNew || isAllowedAgain ? { ...certificate, dueAt: now } : certificate;
}
