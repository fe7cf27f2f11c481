import type { Target } from "./requests.ts";
import type { Certificates, Site } from "./site.ts";

/** The ports that people see, which a proxy may map to the ones listened on; undefined for HTTPS that is not served. */
export type PublicPorts = { http: number; https: number | undefined };
export type Redirect = { status: 301 | 302 | 307 | 308; location: string };

/**
 * Where a request goes instead of being answered here: from a redirecting domain to its target, path and query kept, in one hop, with
 * HTTPS where the target has a certificate.
 */
export function domainRedirect(
  site: Extract<Site, { status: "redirect" }>,
  target: Target,
  { certificates, ports }: { certificates: Certificates; ports: PublicPorts },
): Redirect {
  return { status: site.code, location: addressAt(site.to, target, certificates, ports) };
}

/** The value of the Link header that names this page's canonical address (RFC 6596). */
export function canonicalLink(canonical: string, target: Target, certificates: Certificates, ports: PublicPorts): string {
  const address = addressAt(canonical, target, certificates, ports).replaceAll(/[<>"]/g, encodeURIComponent);
  return `<${address}>; rel="canonical"`;
}

function addressAt(host: string, target: Target, certificates: Certificates, ports: PublicPorts): string {
  const origin = httpsOrigin(host, certificates, ports) ?? originOf("http", host, ports.http);
  return origin + target.rawPath + target.query;
}

/** From HTTP to HTTPS, where the name has a certificate. 308 keeps the method. */
export function httpsRedirect(host: string, target: Target, certificates: Certificates, ports: PublicPorts): Redirect | undefined {
  const origin = httpsOrigin(host, certificates, ports);
  return origin === undefined ? undefined : { status: 308, location: origin + target.rawPath + target.query };
}

function httpsOrigin(host: string, certificates: Certificates, ports: PublicPorts): string | undefined {
  if (ports.https === undefined || certificates.current(host) === undefined) return undefined;
  return originOf("https", host, ports.https);
}

function originOf(scheme: "http" | "https", host: string, port: number): string {
  return port === (scheme === "https" ? 443 : 80) ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
