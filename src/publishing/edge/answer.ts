import type { IncomingHttpHeaders } from "node:http";
import { chooseCoding } from "../../platform/http/negotiation.ts";
import { photoAt, photosHost } from "../photos/photos.ts";
import { isShownToPerson } from "../storefront/page-view-counter.ts";
import type { RenderedPage, RenderStorefront } from "../storefront/storefront.ts";
import { type Answer, fileAnswer, findFile, renderedAnswer, text } from "./files.ts";
import { type FormDesk, formAnswer } from "./forms.ts";
import { parseTarget, type Target } from "./requests.ts";
import type { Certificates, EdgeHosts, LiveSite, Manifest, Site } from "./site.ts";
import type { Visit } from "./visits.ts";

/** What the edge shows besides the files of sites. */
export type EdgeContent = {
  /** Undefined if no site has a storefront. */
  renderStorefront: RenderStorefront | undefined;
  /** Returns a photo's size in bytes; undefined if the account does not have it. Without an account, it finds the photos of all. */
  findPhoto: (photo: { hash: string; type: string }, accountId: number | undefined) => Promise<number | undefined>;
  /** Takes the forms of storefronts; undefined if none has any. */
  forms?: FormDesk | undefined;
  /** Called with the account whose storefront has shown a page to a person. */
  onPageView?: ((accountId: number) => void) | undefined;
};

export type EdgeContext = EdgeHosts &
  EdgeContent & {
    ports: PublicPorts;
    /** The edge serves projects at names below this domain. */
    platformDomain: string;
  };

const challengePath = "/.well-known/acme-challenge/";

/** Returns the answer to a request, from the arguments alone. The caller reads and sends the bytes of the file. */
export function answer(request: Visit, served: EdgeContext): Answer {
  return withHsts(decide(request, served), request, served);
}

/** Adds Strict-Transport-Security to a site's answer over TLS that the edge terminates. */
function withHsts(reply: Answer, { secureHost }: Visit, served: EdgeContext): Answer {
  const value = secureHost === undefined || reply.host === undefined ? undefined : hstsOf(reply.host, served);
  return value === undefined ? reply : { ...reply, headers: { ...reply.headers, "Strict-Transport-Security": value } };
}

/**
 * The Strict-Transport-Security header of a host (RFC 6797), if it has one. Only if the public ports are 80 and 443: with others, browsers would
 * try HTTPS on the port of HTTP. Without `includeSubDomains`: other servers may serve the subdomains.
 */
export function hstsOf(host: string, { ports, hstsSeconds }: EdgeContext): string | undefined {
  const seconds = ports.http === 80 && ports.https === 443 ? hstsSeconds(host) : undefined;
  return seconds === undefined ? undefined : `max-age=${seconds}`;
}

function decide(request: Visit, served: EdgeContext): Answer {
  const { host, url } = request;
  if (host === undefined) return text(400, "The Host of this request is not a host name.");
  if (request.secureHost !== undefined && host !== request.secureHost) {
    return text(421, "This connection was made for another name.");
  }
  const isChallenge = url.startsWith(challengePath);
  const authorization = isChallenge ? served.challenges.http(host, url.slice(challengePath.length)) : undefined;
  if (authorization !== undefined) return text(200, authorization);

  const ofPhotos =
    host === `${photosHost}.${served.platformDomain}` ? photoAnswer(parseTarget(url), undefined, request, served) : undefined;
  if (ofPhotos !== undefined) return { ...ofPhotos, host };
  const site = served.sites.get(host);
  if (site?.status === "unknown") return temporarilyUnavailable;
  if (site?.status === "own") return isChallenge ? text(404, "There is no such challenge.") : toOwnHttps(host, url, served);
  if (site === undefined || site.status === "suspended") return text(404, "There is no site at this address.");
  const target = parseTarget(url);
  if (target === undefined) return { ...text(400, "The request has no valid path."), host };
  if (isPlatformChallenge(host, target, served)) return { ...text(404, "There is no such challenge."), host };
  if (site.status === "redirect") {
    return { ...(isChallenge ? text(404, "There is no such challenge.") : redirectTo(domainRedirect(site, target, served))), host };
  }
  // A visitor who already uses HTTPS, through a proxy, would be redirected for ever.
  const isPlain = request.secureHost === undefined && !request.cameByHttps;
  const secure = isPlain && !isChallenge ? httpsRedirect(host, target, served.certificates, served.ports) : undefined;
  if (secure !== undefined) return { ...redirectTo(secure), host };
  if (site.status === "deployment")
    return { status: 200, headers: {}, host, pending: () => deploymentAnswer(host, site, target, request, served) };
  const reply = liveAnswer(host, site, target, request, served);
  reply.host = host;
  if (site.canonical !== undefined && isOfFile(reply)) {
    reply.headers.Link = canonicalLink(site.canonical, target, served.certificates, served.ports);
  }
  return reply;
}

/** A page of the storefront, a photo or a file of a site. */
function liveAnswer(host: string, site: LiveSite, target: Target, request: Visit, served: EdgeContext): Answer {
  return (
    shopFormAnswer(host, site, target, request, served) ??
    storefrontAnswer(host, site, target, request, served) ??
    (site.manifest.has(target.path) ? undefined : photoAnswer(target, site.accountId, request, served)) ??
    fromManifest(site.manifest, target, request)
  );
}

/** The answer of a storefront's page with a form; undefined if the site has none, or has a file at the path. */
function shopFormAnswer(
  host: string,
  { shop, manifest, canonical }: LiveSite,
  target: Target,
  visit: Visit,
  { forms, certificates, ports }: EdgeContext,
): Answer | undefined {
  if (shop === undefined || forms === undefined || manifest.has(target.path) || manifest.has(`${target.path}/index.html`)) return undefined;
  return formAnswer({ ...shop, origin: originAt(canonical ?? host, certificates, ports) }, target, visit, forms);
}

/** The answer of one deployment at its own address, which search engines do not list (specification 6.8). */
async function deploymentAnswer(
  host: string,
  { find }: Extract<Site, { status: "deployment" }>,
  target: Target,
  request: Visit,
  served: EdgeContext,
): Promise<Answer> {
  const site = await find();
  if (site === undefined) return text(404, "There is no such deployment at this address.");
  const { pending, ...rest } = liveAnswer(host, site, target, request, { ...served, onPageView: undefined });
  const found = pending === undefined ? rest : await pending();
  return { ...found, headers: { ...rest.headers, ...found.headers, "X-Robots-Tag": "noindex" } };
}

/** The API and the dashboard answer over HTTPS only; before the first certificate there is nothing to redirect to. */
function toOwnHttps(host: string, url: string, { certificates, ports }: EdgeContext): Answer {
  const target = parseTarget(url);
  if (target === undefined) return text(400, "The request has no valid path.");
  const secure = httpsRedirect(host, target, certificates, ports);
  return secure === undefined ? notCertified : redirectTo(secure);
}

/** Only the answer of a file names a canonical address; a 404 or a redirect does not. */
const isOfFile = ({ status }: Answer): boolean => status === 200 || status === 206 || status === 304;

/** Whether a path is that of an ACME challenge on a name of the platform. A site that answered it could get the name's certificate. */
function isPlatformChallenge(host: string, { path }: Target, { platformDomain }: EdgeContext): boolean {
  return host.endsWith(`.${platformDomain}`) && `/${path}/`.startsWith(challengePath);
}

/** The answer of a built-in storefront, undefined if the site has none or has a file at the path. */
function storefrontAnswer(
  host: string,
  { shop, manifest, canonical }: LiveSite,
  target: Target,
  { method, headers, turn }: Visit,
  { renderStorefront, certificates, ports, onPageView }: EdgeContext,
): Answer | undefined {
  if (shop === undefined || renderStorefront === undefined || photoAt(target.path) !== undefined || (method !== "GET" && method !== "HEAD"))
    return undefined;
  const found = findFile(manifest, target.path);
  if (found.kind === "folder" || (found.kind === "file" && found.status === 200)) return undefined;
  const icon = target.path === "favicon.ico" && shop.settings.icon !== undefined ? manifest.get(shop.settings.icon) : undefined;
  if (icon !== undefined) return fileAnswer({ kind: "file", status: 200, path: target.path, file: icon }, method, headers);
  return {
    status: 200,
    headers: {},
    pending: async () => {
      const origin = originAt(canonical ?? host, certificates, ports);
      const coding = chooseCoding(headers["accept-encoding"], () => true);
      const page = await renderStorefront({ ...shop, origin }, { path: target.path, query: target.query, coding, turn });
      if (page.status === 404 && found.kind === "file") return fileAnswer(found, method, headers);
      const reply = renderedAnswer(page, headers);
      if (reply === undefined) return text(412, "The page has changed.");
      if (onPageView !== undefined && method === "GET" && isPageView(page, headers)) onPageView(shop.accountId);
      return reply;
    },
  };
}

/** Whether an answer shows a page to a person: no file, no 404, and not to a robot. */
function isPageView({ status, type }: RenderedPage, headers: IncomingHttpHeaders): boolean {
  return status === 200 && type.startsWith("text/html") && isShownToPerson(headers);
}

/** The answer to a photo's path; undefined for any other path. Without an account, it serves the photos of all. */
function photoAnswer(
  target: Target | undefined,
  accountId: number | undefined,
  { method, headers }: Visit,
  { findPhoto }: EdgeContext,
): Answer | undefined {
  const photo = target && photoAt(target.path);
  if (target === undefined || photo === undefined || (method !== "GET" && method !== "HEAD")) return undefined;
  return {
    status: 200,
    headers: {},
    pending: async () => {
      const size = await findPhoto(photo, accountId);
      const { hash, type } = photo;
      const file = size !== undefined && { hash, size, type, encodings: {} };
      const reply = file
        ? fileAnswer({ kind: "file", status: 200, path: target.path, file }, method, headers)
        : text(404, "There is no such photo.");
      if (reply.headers["ETag"] !== undefined) reply.headers["Cache-Control"] = "public, max-age=31536000, immutable";
      // Without this header, a site with a Cross-Origin-Embedder-Policy could not show the photo.
      reply.headers["Cross-Origin-Resource-Policy"] = "cross-origin";
      reply.headers["Access-Control-Allow-Origin"] = "*"; // photos are public, and scripts may read them
      return reply;
    },
  };
}

/** Returns a new answer, which the caller may change. */
function fromManifest(manifest: Manifest, target: Target, { method, headers }: Visit): Answer {
  if (method !== "GET" && method !== "HEAD") {
    const refused = text(405, "Published files are read-only.");
    return { ...refused, headers: { ...refused.headers, Allow: "GET, HEAD" } };
  }
  const found = findFile(manifest, target.path);
  if (found.kind === "nothing") return text(404, "There is no such page on this site.");
  if (found.kind === "folder") return redirectTo({ status: 301, location: found.location + target.query });
  return fileAnswer(found, method, headers);
}

function redirectTo({ status, location }: Redirect): Answer {
  const { headers } = text(status, "");
  return { status, headers: { ...headers, Location: location, "Cache-Control": "public, max-age=0, must-revalidate" } };
}

const unavailable = text(503, "This site cannot be served now. Try again in a moment.");
const uncertified = text(503, "The certificate of this address is not ready yet. Try again in a minute.");
const notCertified: Answer = { ...uncertified, headers: { ...uncertified.headers, "Retry-After": 60 } };
/** The answer for a site or file that is probably available again in a moment. */
export const temporarilyUnavailable: Answer = { ...unavailable, headers: { ...unavailable.headers, "Retry-After": 1 } };

/** The ports that visitors use, which a proxy may map to those of the listeners. `https` is undefined if HTTPS is not served. */
type PublicPorts = { http: number; https: number | undefined };
type Redirect = { status: Extract<Site, { status: "redirect" }>["code"]; location: string };

/**
 * Returns the redirect of a domain to its target, with path and query. It leads to HTTPS if the target has a certificate, so that no second
 * redirect follows.
 */
function domainRedirect(
  site: Extract<Site, { status: "redirect" }>,
  target: Target,
  { certificates, ports }: { certificates: Certificates; ports: PublicPorts },
): Redirect {
  return { status: site.code, location: addressAt(site.to, target, certificates, ports) };
}

/** Returns the Link header that names a page's canonical address (RFC 6596). */
function canonicalLink(canonical: string, target: Target, certificates: Certificates, ports: PublicPorts): string {
  const address = addressAt(canonical, target, certificates, ports).replaceAll(/[<>"]/g, encodeURIComponent);
  return `<${address}>; rel="canonical"`;
}

/** The origin of a name: HTTPS if it has a certificate. */
function originAt(host: string, certificates: Certificates, ports: PublicPorts): string {
  return httpsOrigin(host, certificates, ports) ?? originOf("http", host, ports.http);
}

function addressAt(host: string, target: Target, certificates: Certificates, ports: PublicPorts): string {
  return originAt(host, certificates, ports) + target.rawPath + target.query;
}

/** Returns the redirect from HTTP to HTTPS, if the name has a certificate. Status 308 keeps the method. */
function httpsRedirect(host: string, target: Target, certificates: Certificates, ports: PublicPorts): Redirect | undefined {
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
