import type { Target } from "./requests.ts";
import type { Certificates, Site } from "./site.ts";

/** The ports that visitors use, which a proxy may map to those of the listeners. `https` is undefined if HTTPS is not served. */
export type PublicPorts = { http: number; https: number | undefined };
export type Redirect = { status: Extract<Site, { status: "redirect" }>["code"]; location: string };

/**
 * Returns the redirect of a domain to its target, with path and query. It leads to HTTPS if the target has a certificate, so that no second
 * redirect follows.
 */
export function domainRedirect(
  site: Extract<Site, { status: "redirect" }>,
  target: Target,
  { certificates, ports }: { certificates: Certificates; ports: PublicPorts },
): Redirect {
  return { status: site.code, location: addressAt(site.to, target, certificates, ports) };
}

/** Returns the Link header that names a page's canonical address (RFC 6596). */
export function canonicalLink(canonical: string, target: Target, certificates: Certificates, ports: PublicPorts): string {
  const address = addressAt(canonical, target, certificates, ports).replaceAll(/[<>"]/g, encodeURIComponent);
  return `<${address}>; rel="canonical"`;
}

/** The origin of a name: HTTPS if it has a certificate. */
export function originAt(host: string, certificates: Certificates, ports: PublicPorts): string {
  return httpsOrigin(host, certificates, ports) ?? originOf("http", host, ports.http);
}

function addressAt(host: string, target: Target, certificates: Certificates, ports: PublicPorts): string {
  return originAt(host, certificates, ports) + target.rawPath + target.query;
}

/** Returns the redirect from HTTP to HTTPS, if the name has a certificate. Status 308 keeps the method. */
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
