import type { IncomingHttpHeaders } from "node:http";
import { evaluateRead } from "../../platform/http/conditions.ts";
import { chooseCoding, isGzippedType } from "../../platform/http/negotiation.ts";
import { cacheControlOf, findFile, type Found } from "./files.ts";
import { renderedAnswer } from "./rendered.ts";
import { canonicalLink, domainRedirect, httpsRedirect, originAt, type PublicPorts, type Redirect } from "./redirects.ts";
import { parseRange, type ByteRange } from "./ranges.ts";
import { photoAt, photosHost } from "../photos/photos.ts";
import { parseHost, parseTarget, splitAbsoluteForm, type Target } from "./requests.ts";
import type { RenderStorefront, StreamedBody } from "../storefront/storefront.ts";
import type { Certificates, Challenges, Encoding, Manifest, PublishedFile, Site, Sites } from "./site.ts";

export type EdgeRequest = {
  method: string;
  url: string;
  /** The Host header or `:authority`; undefined where there is none, or more than one. */
  authority: string | undefined;
  /** The name that the TLS connection was made for; undefined on plain HTTP. */
  secureHost: string | undefined;
  /** Whether a trusted proxy says that the visitor reached it over HTTPS. The proxy itself connects over HTTP. */
  cameByHttps: boolean;
  headers: IncomingHttpHeaders;
  /** Whose turns the request takes: the site and the visitor's address. */
  turn: string;
};

export type Body = { file: PublishedFile; encoding: Encoding | undefined; range: ByteRange | undefined };
export type Answer = {
  status: number;
  headers: Record<string, string | number>;
  /** The host whose site answers, if a site does: removing the host cuts the connection. */
  host?: string;
  body?: Body | StreamedBody | string | Buffer;
  /** Finds an answer that is not in memory. Its status, headers and body replace those above; `headers` above are then added to its headers. */
  pending?: () => Promise<Answer>;
};
export type Served = {
  sites: Sites;
  certificates: Certificates;
  challenges: Challenges;
  ports: PublicPorts;
  /** The edge serves projects at names below this domain. */
  platformDomain: string;
  /** Returns the max-age of a host's Strict-Transport-Security header; undefined to send none. */
  hstsSeconds: (host: string) => number | undefined;
  renderStorefront: RenderStorefront | undefined;
  /** Returns a photo's size in bytes; undefined if the account does not have it. Without an account, it finds the photos of all. */
  findPhoto: (photo: { hash: string; type: string }, accountId: number | undefined) => Promise<number | undefined>;
};

const challengePath = "/.well-known/acme-challenge/";

/** Returns the answer to a request, from the arguments alone. The caller reads and sends the bytes of the file. */
export function answer(request: EdgeRequest, served: Served): Answer {
  return withHsts(decide(request, served), request, served);
}

/**
 * Adds Strict-Transport-Security (RFC 6797) to a site's answer over TLS that the edge terminates. Only if the public ports are 80 and 443:
 * with others, browsers would try HTTPS on the port of HTTP. Without `includeSubDomains`: other servers may serve the subdomains.
 */
function withHsts(reply: Answer, { secureHost }: EdgeRequest, { ports, hstsSeconds }: Served): Answer {
  if (secureHost === undefined || reply.host === undefined || ports.http !== 80 || ports.https !== 443) return reply;
  const seconds = hstsSeconds(reply.host);
  if (seconds === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, "Strict-Transport-Security": `max-age=${seconds}` } };
}

function decide(request: EdgeRequest, served: Served): Answer {
  const { authority = request.authority, target: url } = splitAbsoluteForm(request.url);
  const host = parseHost(authority);
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
  if (site?.status === "unknown") return later;
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

type LiveSite = Extract<Site, { status: "live" }>;

/** A page of the storefront, a photo or a file of a site. */
function liveAnswer(host: string, site: LiveSite, target: Target, request: EdgeRequest, served: Served): Answer {
  return (
    storefrontAnswer(host, site, target, request, served) ??
    (site.manifest.has(target.path) ? undefined : photoAnswer(target, site.accountId, request, served)) ??
    fromManifest(site.manifest, target, request)
  );
}

/** The answer of one deployment at its own address, which search engines do not list (specification 6.8). */
async function deploymentAnswer(
  host: string,
  { find }: Extract<Site, { status: "deployment" }>,
  target: Target,
  request: EdgeRequest,
  served: Served,
): Promise<Answer> {
  const site = await find();
  if (site === undefined) return text(404, "There is no such deployment at this address.");
  const { pending, ...rest } = liveAnswer(host, site, target, request, served);
  const found = pending === undefined ? rest : await pending();
  return { ...found, headers: { ...rest.headers, ...found.headers, "X-Robots-Tag": "noindex" } };
}

/** The API and the dashboard answer over HTTPS only; before the first certificate there is nothing to redirect to. */
function toOwnHttps(host: string, url: string, { certificates, ports }: Served): Answer {
  const target = parseTarget(url);
  if (target === undefined) return text(400, "The request has no valid path.");
  const secure = httpsRedirect(host, target, certificates, ports);
  return secure === undefined ? notCertified : redirectTo(secure);
}

/** Only the answer of a file names a canonical address; a 404 or a redirect does not. */
const isOfFile = ({ status }: Answer): boolean => status === 200 || status === 206 || status === 304;

/** Whether a path is that of an ACME challenge on a name of the platform. A site that answered it could get the name's certificate. */
function isPlatformChallenge(host: string, { path }: Target, { platformDomain }: Served): boolean {
  return host.endsWith(`.${platformDomain}`) && `/${path}/`.startsWith(challengePath);
}

/** The answer of a built-in storefront, undefined if the site has none or has a file at the path. */
function storefrontAnswer(
  host: string,
  { shop, manifest, canonical }: LiveSite,
  target: Target,
  { method, headers, turn }: EdgeRequest,
  { renderStorefront, certificates, ports }: Served,
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
      return renderedAnswer(page, headers) ?? text(412, "The page has changed.");
    },
  };
}

/** The answer to a photo's path; undefined for any other path. Without an account, it serves the photos of all. */
function photoAnswer(
  target: Target | undefined,
  accountId: number | undefined,
  { method, headers }: EdgeRequest,
  { findPhoto }: Served,
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
function fromManifest(manifest: Manifest, target: Target, { method, headers }: EdgeRequest): Answer {
  if (method !== "GET" && method !== "HEAD") {
    const refused = text(405, "Published files are read-only.");
    return { ...refused, headers: { ...refused.headers, Allow: "GET, HEAD" } };
  }
  const found = findFile(manifest, target.path);
  if (found.kind === "nothing") return text(404, "There is no such page on this site.");
  if (found.kind === "folder") return redirectTo({ status: 301, location: found.location + target.query });
  return fileAnswer(found, method, headers);
}

/** Checks preconditions in the order of RFC 9110, section 13.2.2. A range is always of the uncompressed file, and has that file's ETag. */
function fileAnswer({ file, path, status }: Extract<Found, { kind: "file" }>, method: string, asked: IncomingHttpHeaders): Answer {
  const ifRange = asked["if-range"];
  const partial = status === 200 && method === "GET" && (ifRange === undefined || ifRange === etagOf(file, undefined));
  const range = partial && asked.range !== undefined ? parseRange(asked.range, file.size) : undefined;
  const isGzipped = isGzippedType(path);
  const canChoose = range === undefined && !isGzipped;
  const encoding = canChoose ? chooseCoding(asked["accept-encoding"], (coding) => file.encodings[coding] !== undefined) : undefined;
  const etag = etagOf(file, encoding);
  const headers = headersOf(file, path, etag);

  if (status === 200) {
    const outcome = evaluateRead(asked, etag);
    if (outcome === "failed") return text(412, "The file has changed.");
    if (outcome === "not_modified") return { status: 304, headers };
  }
  if (range === "unsatisfiable") {
    const refused = text(416, "The file is shorter than that.");
    return { ...refused, headers: { ...refused.headers, "Content-Range": `bytes */${file.size}` } };
  }
  headers["Content-Type"] = file.type;
  if (isGzipped) headers["Content-Encoding"] = "gzip";
  if (encoding !== undefined) headers["Content-Encoding"] = encoding;
  headers["Content-Length"] = range === undefined ? sizeOf(file, encoding) : range.end - range.start + 1;
  if (range !== undefined) headers["Content-Range"] = `bytes ${range.start}-${range.end}/${file.size}`;
  return { status: range === undefined ? status : 206, headers, body: { file, encoding, range } };
}

/** Strong: the same tag means the same bytes, so each encoding has its own (RFC 9110, 8.8.3.3). */
export function etagOf(file: PublishedFile, encoding: Encoding | undefined): string {
  const own = `"${file.hash.slice(0, 32)}`;
  return encoding === undefined ? `${own}"` : `${own}-${encoding}"`;
}

/** The headers that a 304 repeats from the 200. */
function headersOf(file: PublishedFile, path: string, etag: string): Record<string, string | number> {
  const headers: Record<string, string | number> = {
    ETag: etag,
    "Cache-Control": cacheControlOf(file, path),
    "X-Content-Type-Options": "nosniff",
    "Accept-Ranges": "bytes",
  };
  if (file.encodings.br !== undefined || file.encodings.gzip !== undefined) headers.Vary = "Accept-Encoding";
  return headers;
}

/** The size of a file in this encoding, in bytes. */
export function sizeOf(file: PublishedFile, encoding: Encoding | undefined): number {
  return (encoding === undefined ? undefined : file.encodings[encoding]) ?? file.size;
}

function redirectTo({ status, location }: Redirect): Answer {
  const { headers } = text(status, "");
  return { status, headers: { ...headers, Location: location, "Cache-Control": "public, max-age=0, must-revalidate" } };
}

const unavailable = text(503, "This site cannot be served now. Try again in a moment.");
const uncertified = text(503, "The certificate of this address is not ready yet. Try again in a minute.");
const notCertified: Answer = { ...uncertified, headers: { ...uncertified.headers, "Retry-After": 60 } };
/** The answer for a site or file that is probably available again in a moment. */
export const later: Answer = { ...unavailable, headers: { ...unavailable.headers, "Retry-After": 1 } };

export const busyText = "Too many large files are being read. Try again in a moment.";
export const busy: Answer = { status: 503, headers: { ...text(503, busyText).headers, "Retry-After": 1 } };

/** Returns a short plain-text answer that is never cached. */
export function text(status: number, body: string): Answer {
  return {
    status,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
    body,
  };
}
