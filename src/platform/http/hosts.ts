import { isIP, isIPv4 } from "node:net";
import { invalidAt, type Problem } from "../problem.ts";
import type { Exchange } from "./exchange.ts";

const namePattern = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const ipv6Pattern = /^\[[0-9a-f:.]{2,45}\]$/;
export const labelLengthMax = 63;
const hostLengthMax = 253;

/** Returns the refusal of a request without exactly one Host header (RFC 9112, 3.2), or with a host that its route does not accept. */
export type HostCheck = (exchange: Exchange) => Problem | undefined;

/** `publicUrl` is the origin that people use. `platformDomain` and the names below it are never hosts of this service. */
export type ServiceHosts = { publicUrl: string; platformDomain: string };

/** Returns the check of the Host header for a service with these hosts. */
export function checkHosts({ publicUrl, platformDomain }: ServiceHosts): HostCheck {
  const { hostname: publicHost } = new URL(publicUrl);
  const isPublic = (host: string): boolean => host === publicHost || (isThisMachine(publicHost) && isOwnName(host));
  const isOwnName = (host: string): boolean => isThisMachine(host) && host !== platformDomain && !host.endsWith(`.${platformDomain}`);
  const isDirect = (host: string): boolean => host === "localhost" || isIP(unbracketed(host)) !== 0 || host === publicHost;

  return ({ request, authority, route: { hosts: rule } }) => {
    if (countHosts(request.rawHeaders) !== 1) return invalidAt("header.Host", "must be sent exactly once");
    if (rule === "any") return undefined;
    const host = hostnameOf(authority);
    if (host !== undefined && (rule === "direct" ? isDirect(host) : isPublic(host))) return undefined;
    const sentence = `The Host header must name this service's own host: use ${publicUrl}, or change the setting PUBLIC_URL.`;
    return invalidAt("header.Host", `must be the host of ${publicUrl}`, sentence);
  };
}

/** Returns the host as URLs write it, such as `127.0.0.1` for `127.1`; undefined if the text is not a host. */
function hostnameOf(authority: string | undefined): string | undefined {
  const host = parseHost(authority);
  return host && URL.parse(`http://${host}`)?.hostname;
}

const unbracketed = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host);

/** Whether a host is a loopback address, or a name that always resolves to one (RFC 6761, 6.3). */
function isThisMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}

/** Counts the Host headers. Node passes on the first of several, but such a request is invalid (RFC 9112, 3.2). */
export function countHosts(rawHeaders: string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/** Splits a request's target. In the absolute form (`GET http://host/path`) its host takes precedence over the Host header (RFC 9112, 3.2.2). */
export function splitAbsoluteForm(url: string): { authority: string | undefined; target: string } {
  if (url.startsWith("/")) return { authority: undefined, target: url };
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(url);
  if (absolute === null) return { authority: undefined, target: url };
  const rest = url.slice(absolute[0].length);
  return { authority: absolute[1], target: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * Parses the host of a Host header or `:authority`: lower case, without port and final dot (RFC 9110, 7.2). Returns undefined if it
 * is not a host: empty, too long, with user information or not ASCII. An IP address is a valid host that no site has.
 */
export function parseHost(authority: string | undefined): string | undefined {
  if (authority === undefined || authority.length > hostLengthMax + 8) return undefined;
  const port = /:(\d{0,5})$/.exec(authority);
  const name = (port === null ? authority : authority.slice(0, port.index)).toLowerCase();
  if (port !== null && Number(port[1]) > 65_535) return undefined;
  if (ipv6Pattern.test(name)) return name;
  return normaliseName(name);
}

/** Normalises a host name, such as one from SNI: lower case, without the final dot. Returns undefined if it is not a host name. */
export function normaliseName(name: string): string | undefined {
  const plain = (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
  if (plain.length > hostLengthMax || !namePattern.test(plain)) return undefined;
  return plain.length <= labelLengthMax || plain.split(".").every((label) => label.length <= labelLengthMax) ? plain : undefined;
}
