import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import type { FastifyContextConfig, FastifyRequest } from "fastify";
import { invalidAt, type Problem } from "../problem.ts";
import { surfaceOf, type ApiSurface } from "./api-surfaces.ts";

/**
 * Which values of the Host header a route accepts. If a web page's name is made to resolve to this machine (DNS
 * rebinding), a browser treats this service as the page's own origin: the page must not be able to read what only this
 * machine, or a signed-in person, may read.
 *
 *   any     every value: the answer does not depend on where the caller is, or the caller needs a key
 *   direct  an IP address or `localhost`, which no DNS answer can redirect, and the host of PUBLIC_URL
 *   public  the host of PUBLIC_URL, and if that is a name of this machine, any such name
 */
type HostRule = "any" | "direct" | "public";

declare module "fastify" {
  interface FastifyContextConfig {
    /** For routes outside the API and the dashboard's calls. Default: `public`. */
    hosts?: HostRule;
  }
}

/** Returns the refusal of a request without exactly one Host header (RFC 9112, 3.2), or with a host that its route does not accept. */
export type HostCheck = (request: FastifyRequest) => Problem | undefined;

/** `publicUrl` is the origin that people see; names at and below `platformDomain` are never this service's. */
export type OwnHosts = { publicUrl: string; platformDomain: string };

/** The hosts of requests in absolute form, which take precedence over the header (RFC 9112, 3.2.2). */
const absoluteHosts = new WeakMap<IncomingMessage, string>();

/** Makes the check of the Host header for the service at these hosts. */
export function checkHosts({ publicUrl, platformDomain }: OwnHosts, surfaces: readonly ApiSurface[]): HostCheck {
  const { hostname: publicHost } = new URL(publicUrl);
  const isPublic = (host: string): boolean => host === publicHost || (isThisMachine(publicHost) && isOwnName(host));
  const isOwnName = (host: string): boolean => isThisMachine(host) && host !== platformDomain && !host.endsWith(`.${platformDomain}`);
  const isDirect = (host: string): boolean => host === "localhost" || isIP(unbracketed(host)) !== 0 || host === publicHost;

  return (request) => {
    const { raw } = request;
    if (countHosts(raw.rawHeaders) !== 1) return invalidAt("header.Host", "must be sent exactly once");
    const rule = ruleOf(request, surfaces);
    if (rule === "any") return undefined;
    const host = hostnameOf(absoluteHosts.get(raw) ?? raw.headers.host ?? "");
    if (host !== undefined && (rule === "direct" ? isDirect(host) : isPublic(host))) return undefined;
    const sentence = `The Host header must name this service's own host: use ${publicUrl}, or change the setting PUBLIC_URL.`;
    return invalidAt("header.Host", `must be the host of ${publicUrl}`, sentence);
  };
}

function ruleOf(request: FastifyRequest, surfaces: readonly ApiSurface[]): HostRule {
  if (request.is404) return "any";
  const surface = surfaceOf(request, surfaces);
  return surface ? surface.hosts : ((request.routeOptions.config as FastifyContextConfig | undefined)?.hosts ?? "public");
}

/** The path of a request whose URL may be in absolute form; records the host of that URL for `checkHosts`. */
export function originForm(request: IncomingMessage): string {
  const { url = "/" } = request;
  if (url.startsWith("/")) return url;
  const [origin = "", host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (host !== undefined) absoluteHosts.set(request, host);
  const path = url.slice(origin.length);
  return path.startsWith("/") ? path : `/${path}`;
}

/** A host without its port, in lower case; undefined if the text is no host. */
function hostnameOf(host: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "");
}

const unbracketed = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host);

/** Names that lead to this machine everywhere (RFC 6761, 6.3). */
function isThisMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}

function countHosts(rawHeaders: string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}
