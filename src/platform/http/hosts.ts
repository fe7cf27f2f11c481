import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import { invalidAt, type Problem } from "../problem.ts";
import type { Exchange } from "./exchange.ts";

/** Returns the refusal of a request without exactly one Host header (RFC 9112, 3.2), or with a host that its route does not accept. */
export type HostCheck = (exchange: Exchange) => Problem | undefined;

/** `publicUrl` is the origin that people use. `platformDomain` and the names below it are never hosts of this service. */
export type OwnHosts = { publicUrl: string; platformDomain: string };

/** The hosts of requests in absolute form, which take precedence over the header (RFC 9112, 3.2.2). */
const absoluteHosts = new WeakMap<IncomingMessage, string>();

/** Returns the check of the Host header for a service with these hosts. */
export function checkHosts({ publicUrl, platformDomain }: OwnHosts): HostCheck {
  const { hostname: publicHost } = new URL(publicUrl);
  const isPublic = (host: string): boolean => host === publicHost || (isThisMachine(publicHost) && isOwnName(host));
  const isOwnName = (host: string): boolean => isThisMachine(host) && host !== platformDomain && !host.endsWith(`.${platformDomain}`);
  const isDirect = (host: string): boolean => host === "localhost" || isIP(unbracketed(host)) !== 0 || host === publicHost;

  return ({ request, headers, route: { hosts: rule } }) => {
    if (countHosts(request.rawHeaders) !== 1) return invalidAt("header.Host", "must be sent exactly once");
    if (rule === "any") return undefined;
    const host = hostnameOf(absoluteHosts.get(request) ?? headers.host ?? "");
    if (host !== undefined && (rule === "direct" ? isDirect(host) : isPublic(host))) return undefined;
    const sentence = `The Host header must name this service's own host: use ${publicUrl}, or change the setting PUBLIC_URL.`;
    return invalidAt("header.Host", `must be the host of ${publicUrl}`, sentence);
  };
}

/** Returns the path and query of a request, whose URL may be in absolute form. Records the host of such a URL for `checkHosts`. */
export function originForm(request: IncomingMessage): string {
  const { url = "/" } = request;
  if (url.startsWith("/")) return url;
  const [origin = "", host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (host !== undefined) absoluteHosts.set(request, host);
  const path = url.slice(origin.length);
  return path.startsWith("/") ? path : `/${path}`;
}

/** Returns a host in lower case without its port; undefined if the text is not a host. */
function hostnameOf(host: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "");
}

const unbracketed = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host);

/** Whether a host is a loopback address, or a name that always resolves to one (RFC 6761, 6.3). */
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
