import { dayMs } from "../../platform/clock.ts";
import type { RedirectStatusCode } from "../projects/project-file.ts";

/** `pending`: never verified yet. `failing`: was verified, but its DNS has changed; still served. */
export type DomainStatus = "pending" | "verified" | "failing";

export type Redirect = { to: string; status: RedirectStatusCode };

/** The state of a name that decides whether visitors can be sent to it. Times in ms. */
export type NameState = {
  status: DomainStatus;
  redirect: Redirect | null;
  certificateId: number | null;
  certificateExpiresAt: number | null;
};

/**
 * Whether visitors can be sent to a name: it is verified, does not redirect, and has a certificate that has not expired. If the service
 * orders no certificates (`hasAuthority` is false), a name that never had one is served over HTTP and is ready once it is verified.
 */
export function isReady(name: NameState, hasAuthority: boolean, now: number): boolean {
  if (name.status !== "verified" || name.redirect !== null) return false;
  return name.certificateId === null ? !hasAuthority : (name.certificateExpiresAt ?? 0) > now;
}

/** The other facts that decide what a name serves. */
export type ServingContext = {
  /** Whether the account's plan has custom domains. */
  isPaid: boolean;
  /** The project's primary name, if it is ready. */
  primary: string | null;
  redirectToPrimary: boolean;
  /** Whether a name is attached to the same project and ready. */
  isReady: (hostname: string) => boolean;
};

/** What visitors of a name get now. `canonical`: the primary name, if the site is served at another one. */
export type Serving =
  | { what: "site"; canonical: string | null }
  | { what: "redirect"; to: string; status: Redirect["status"]; because: "redirect" | "redirect_to_primary" }
  | { what: "nothing" };

/**
 * What a custom domain serves (specification 5.9). A redirect whose target is not ready has no effect: the name serves the site, or with
 * `redirectToPrimary` redirects to the primary name.
 */
export function servingOf(name: { hostname: string; status: DomainStatus; redirect: Redirect | null }, context: ServingContext): Serving {
  if (!context.isPaid || name.status === "pending") return { what: "nothing" };
  return servedAt(name.hostname, name.redirect, context);
}

/**
 * What a verified name, or the project's address on the platform, serves: the first of these.
 *
 * 1. Its redirect, if the target is ready. With `redirectToPrimary` the redirect leads straight to the primary name, with its own status.
 * 2. With `redirectToPrimary`, a redirect to the primary name, if this is another one.
 * 3. The site.
 */
export function servedAt(
  hostname: string,
  redirect: Redirect | null,
  { primary, redirectToPrimary, isReady: ready }: ServingContext,
): Serving {
  const sendTo = redirectToPrimary && primary !== hostname ? primary : null;
  if (redirect !== null && ready(redirect.to))
    return { what: "redirect", to: sendTo ?? redirect.to, status: redirect.status, because: "redirect" };
  if (sendTo !== null) return { what: "redirect", to: sendTo, status: 308, because: "redirect_to_primary" };
  return { what: "site", canonical: primary === hostname ? null : primary };
}

const weekMs = 7 * dayMs;
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
