const weekMs = 7 * 86_400_000;
const daySeconds = 86_400;
const yearSeconds = 31_536_000;

/** How many seconds browsers must open a name over HTTPS only: a day in the name's first week here, so that a mistake ends soon; then a year. */
export function hstsSeconds(verifiedSince: number, now: number): number {
  return now - verifiedSince < weekMs ? daySeconds : yearSeconds;
}

/** A warning about HSTS when a name is removed; null if browsers never received it for this name. */
export function hstsWarning(
  { hostname, certificate, firstVerifiedAt }: { hostname: string; certificate: { id: number | null }; firstVerifiedAt: number | null },
  now: number,
): string | null {
  if (certificate.id === null || firstVerifiedAt === null) return null;
  const time = hstsSeconds(firstVerifiedAt, now) === daySeconds ? "day" : "year";
  return `Browsers that visited ${hostname} within the last ${time} open it over HTTPS only (HSTS). Its next address needs a certificate.`;
}

export type EdgePorts = { edgeHttpPort: number; edgeHttpsPort: number; edgePublicHttpPort: number; edgePublicHttpsPort: number };

/** Whether visitors reach published sites at ports 80 and 443, which HSTS needs. */
export function sendsHsts({ edgeHttpPort, edgeHttpsPort, edgePublicHttpPort, edgePublicHttpsPort }: EdgePorts): boolean {
  return (edgePublicHttpPort || edgeHttpPort) === 80 && (edgePublicHttpsPort || edgeHttpsPort) === 443;
}
