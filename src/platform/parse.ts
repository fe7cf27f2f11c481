import { isIP, isIPv6, BlockList } from "node:net";

/** Returns the value, or undefined for a text that is not allowed. */
export type Parse<T> = (text: string) => T | undefined;

/** Returns what `parse` returns, or undefined if it throws. */
export function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** A text that is not allowed. The message completes "it must be …" and shows nothing of the text, which may be a secret. */
export class NotAllowed extends Error {}

/** The parts of a URL of servers, as they are written. `login`: the user and the password with the `@` after them, or empty. */
type UrlParts = { scheme: string; login: string; hosts: string; path: string; query: string };

/** The user and the password end at the last `@` before the path. */
const urlForm = /^([a-z+]+):\/\/((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(.*)$/is;

/**
 * Splits the URL of one server or several, which may have a password.
 *
 * @throws NotAllowed for an escape that means nothing, and where a password that is not encoded ends the hosts too early: messages name hosts and paths
 */
export function splitUrl(text: string): UrlParts {
  const [, scheme = "", login = "", hosts = "", path = "", query = ""] = urlForm.exec(text) ?? [];
  if (/@/.test(path) || /#|[?&][^=&?]*@/.test(query))
    throw new NotAllowed("a URL whose user and password are percent-encoded: / is %2F, ? is %3F, # is %23 and @ is %40");
  if (attempt(() => decodeURIComponent(text)) === undefined)
    throw new NotAllowed("a URL in which each % begins the code of a character, such as %2F: % itself is %25");
  return { scheme, login, hosts, path, query };
}

/** Writes each + of a query as its code, because it is a plus sign, as it is in the rest of a URL: Node and the drivers would read a space. */
export const withPlus = (query: string): string => query.replaceAll("+", "%2B");

/** Parses a comma-separated list; undefined if one of its items is not allowed. */
export function items<T>(text: string, parse: Parse<T>): T[] | undefined {
  const parts = text.split(",").map((part) => part.trim());
  const values = parts.filter((part) => part !== "").map(parse);
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Parses a decimal integer from `min` to `max`. */
export function integer(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : undefined;
  };
}

/** An IP address or a host name. */
export function host(text: string): string | undefined {
  return isIP(text) || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : undefined;
}

/** An http or https origin, without a final slash. */
export function origin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}

/** The URL of a server with one of these protocols, such as `https:`. Refuses a user and password: the setting is shown, and `fetch` accepts none. */
export function serverUrl(protocols: readonly string[]): Parse<string> {
  return (text) => {
    if (!/^[a-z]+:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
    const { protocol, username, password } = new URL(text);
    return protocols.includes(protocol) && username === "" && password === "" ? text : undefined;
  };
}

/** A contact URI (RFC 9116, 2.5.3); an email address becomes a `mailto:` URI. */
export function contactUri(text: string): string | undefined {
  if (!/^[\x21-\x7e]{1,500}$/.test(text)) return undefined;
  if (/^[^@:/]{1,64}@[^@:/]{1,255}$/.test(text)) return `mailto:${text}`;
  if (/^https:/i.test(text)) return serverUrl(["https:"])(text);
  return /^(mailto|tel):/i.test(text) && URL.canParse(text) ? text : undefined;
}

/** Parses a comma-separated list of IP addresses and CIDR ranges. */
export function addressList(text: string): BlockList | undefined {
  const list = new BlockList();
  for (const item of text.split(",").map((part) => part.trim())) {
    if (item === "") continue;
    const [address = "", bits, ...rest] = item.split("/");
    const version = isIP(address);
    if (version === 0 || rest.length > 0) return undefined;
    const family = version === 4 ? "ipv4" : "ipv6";
    const width = version === 4 ? 32 : 128;
    const prefix = bits === undefined ? width : integer(0, width)(bits);
    if (prefix === undefined) return undefined;
    list.addSubnet(address, prefix, family);
  }
  return list;
}

/** IP addresses and ranges. */
export type AddressList = { check(address: string, family: "ipv4" | "ipv6"): boolean };

/** A list of addresses that can be replaced while others use it. */
export function replaceable(first: AddressList): { list: AddressList; replace(next: AddressList): void } {
  let current = first;
  return { list: { check: (address, family) => current.check(address, family) }, replace: (next) => void (current = next) };
}

/** Whether a list contains an address, as a socket or a trusted proxy reports it. */
export function hasAddress(list: AddressList, address: string): boolean {
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
