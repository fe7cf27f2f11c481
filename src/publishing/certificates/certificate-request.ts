import type { AppliedCheck, CertificateState } from "../domains/domains.store.ts";

/**
 * The certificate of a name after a check of its DNS, at `now` (ms). It becomes due at once where the name has just verified, where its CAA
 * records allow the authority again, or where a person asks for a certificate that is missing; but a new one not before `heldUntil`, until
 * when the authority must not be asked. From then on the status is `issuing`, so that `none` means that no certificate is wanted.
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
  const isAllowedAgain = isMissing && before.caa === "blocked" && after.caa === "allowed";
  return isNew || isAllowedAgain ? { ...certificate, dueAt: now } : certificate;
}
