const weekMs = 7 * 86_400_000;
const daySeconds = 86_400;
const yearSeconds = 31_536_000;

/** How long browsers open a name over HTTPS only, in seconds: a day while the name is new here, so that a mistake passes soon. */
export function hstsSeconds(verifiedSince: number, now: number): number {
  return now - verifiedSince < weekMs ? daySeconds : yearSeconds;
}

/** What to know of HSTS when a name is removed; null where browsers were told nothing of the kind. */
export function hstsWarning(
  { hostname, certificate, firstVerifiedAt }: { hostname: string; certificate: { id: number | null }; firstVerifiedAt: number | null },
  now: number,
): string | null {
  if (certificate.id === null || firstVerifiedAt === null) return null;
  const time = hstsSeconds(firstVerifiedAt, now) === daySeconds ? "day" : "year";
  return `Browsers that visited ${hostname} within the last ${time} open it over HTTPS only (HSTS): wherever it leads next needs a certificate.`;
}

export type EdgePorts = { edgeHttpPort: number; edgeHttpsPort: number; edgePublicHttpPort: number; edgePublicHttpsPort: number };

/** Whether people reach published sites at the ports that HSTS is sent for. */
export function sendsHsts({ edgeHttpPort, edgeHttpsPort, edgePublicHttpPort, edgePublicHttpsPort }: EdgePorts): boolean {
  return (edgePublicHttpPort || edgeHttpPort) === 80 && (edgePublicHttpsPort || edgeHttpsPort) === 443;
}
