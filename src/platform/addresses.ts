import { isIP, isIPv4, isIPv6 } from "node:net";
import { hasAddress, type AddressList } from "./parse.ts";

/**
 * The client's address: the socket's, or the farthest one that trusted proxies name in `X-Forwarded-For`. An entry that is not an address
 * counts as the address of the proxy that added it.
 */
export function clientAddressOf(
  remoteAddress: string | undefined,
  forwarded: string | undefined,
  proxies: AddressList | undefined,
): string {
  const chain = forwardedChain(remoteAddress, forwarded, proxies);
  return chain.length === 1 ? chain[0]! : (chain.map(forwardedAddress).findLast((address) => address !== undefined) ?? chain[0]!);
}

/** The socket's address, and after it those that trusted proxies name, the farthest one last, as they wrote them. */
export function forwardedChain(remoteAddress = "unknown", forwarded: string | undefined, proxies: AddressList | undefined): string[] {
  const addresses = [remoteAddress];
  if (proxies === undefined || forwarded === undefined) return addresses;
  const named = forwarded
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  while (named.length > 0 && isTrusted(addresses.at(-1)!, proxies)) addresses.push(named.pop()!);
  return addresses;
}

function isTrusted(entry: string, proxies: AddressList): boolean {
  const address = forwardedAddress(entry);
  return address !== undefined && hasAddress(proxies, address);
}

/**
 * Returns the address of an entry of `X-Forwarded-For`, which some proxies write with a port or in brackets: `192.0.2.1:4711`,
 * `[2001:db8::1]:4711`. Undefined for any other text.
 */
export function forwardedAddress(entry: string): string | undefined {
  if (isIP(entry)) return entry;
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(entry)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  const bare = /^([\d.]{7,15}):\d{1,5}$/.exec(entry)?.[1];
  return bare !== undefined && isIPv4(bare) ? bare : undefined;
}

/**
 * The name under which an address is counted: an IPv4 address as it is, an IPv4 address mapped into IPv6 (RFC 4291,
 * 2.5.5.2) as the IPv4 address, any other IPv6 address by its first 64 bits, which usually belong to one household or host.
 * Any other text is counted under its first 64 characters.
 */
export function addressName(address: string): string {
  if (!address.includes(":")) return address.length <= 64 ? address : address.slice(0, 64);
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length, 64);
  const groups = groupsOf(address);
  if (groups === undefined) return address.slice(0, 64);
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (mapped) return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join(".");
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(":")}::/64`;
}

/** The eight groups of an IPv6 address, or undefined. */
function groupsOf(address: string): number[] | undefined {
  const zone = address.indexOf("%");
  const [head = "", tail, more] = (zone === -1 ? address : address.slice(0, zone)).split("::");
  if (more !== undefined) return undefined;
  const left = parseGroups(head);
  const right = parseGroups(tail ?? "");
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array.from({ length: missing }, () => 0), ...right];
  return groups.every((group) => group >= 0 && group <= 0xffff) ? groups : undefined;
}

function parseGroups(text: string): number[] {
  if (text === "") return [];
  return text
    .split(":")
    .flatMap((group) => (group.includes(".") ? parseDotted(group) : [/^[0-9a-f]{1,4}$/i.test(group) ? parseInt(group, 16) : -1]));
}

function parseDotted(text: string): number[] {
  const bytes = text.split(".").map((byte) => (/^\d{1,3}$/.test(byte) && Number(byte) <= 255 ? Number(byte) : NaN));
  return bytes.length === 4 ? [bytes[0]! * 256 + bytes[1]!, bytes[2]! * 256 + bytes[3]!] : [-1];
}
