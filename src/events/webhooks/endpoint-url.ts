import { BlockList, isIP } from "node:net";
import { invalidAt } from "../../platform/problem.ts";

/** Returns the addresses of a host name; throws `AddressError` if DNS gives none. */
export type Resolve = (hostname: string, accountId: number) => Promise<string[]>;

/** An endpoint's address cannot be found, or is not allowed. The message is for the endpoint's owner. */
export class AddressError extends Error {
  /** Whether the address was found but is not allowed. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused = false } = {}) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** The rules for endpoint addresses. `privateAddresses`, for development, allows plain HTTP and all addresses. */
export type AddressRules = { privateAddresses: boolean; resolve: Resolve };

const urlLengthMax = 2_000;
const portRule = "must have port 80, 443, or one from 1024 to 65535";

/**
 * Parses the URL of an endpoint.
 *
 * @throws Problem `invalid_request`
 */
export function parseEndpointUrl(text: string, { privateAddresses }: Pick<AddressRules, "privateAddresses">): URL {
  const url = URL.parse(text);
  const reason =
    url === null || !/^https?:\/\/[ -\u{10FFFF}]+$/iu.test(text) || url.hostname === ""
      ? "must be an https URL"
      : url.protocol === "http:" && !privateAddresses
        ? "must be an https URL; plain HTTP is for development, with WEBHOOK_PRIVATE_ADDRESSES=on"
        : url.username !== "" || url.password !== "" || /^[^/?#]*\/\/[^/?#]*@/.test(text)
          ? "must not contain a user or password"
          : url.hash !== "" || text.includes("#")
            ? "must not contain a fragment"
            : !hasAllowedPort(url)
              ? portRule
              : url.href.length > urlLengthMax
                ? `must have at most ${urlLengthMax} characters once it is escaped`
                : undefined;
  if (url === null || reason !== undefined) throw invalidAt("body.url", reason ?? "must be an https URL");
  return url;
}

/**
 * Refuses any other port: below 1024 are services that read what they get in protocols of their own, such as SSH and mail (specification 9.6).
 *
 * @throws AddressError
 */
export function requireAllowedPort(url: URL): void {
  if (!hasAllowedPort(url)) throw new AddressError(portRule, { isRefused: true });
}

function hasAllowedPort({ port }: URL): boolean {
  return port === "" || port === "80" || port === "443" || Number(port) >= 1_024;
}

/**
 * Refuses an endpoint if its address, or any address of its host name, is not on the public internet. A host name that DNS cannot
 * resolve passes, because each delivery looks it up again.
 *
 * @throws Problem `invalid_request`
 */
export async function requirePublicUrl(url: URL, rules: AddressRules, accountId: number): Promise<void> {
  try {
    await addressesOf(hostOf(url), rules, accountId);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    if (error.isRefused) throw invalidAt("body.url", error.message);
  }
}

/** Returns the host of a URL: a name without its final dot, or an address without brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
}

/**
 * Returns the addresses of a host, if all of them are allowed.
 *
 * @throws AddressError if there is none, or if one of them is not on the public internet
 */
export async function addressesOf(host: string, { privateAddresses, resolve }: AddressRules, accountId: number): Promise<string[]> {
  const addresses = isIP(host) ? [host] : isLoopbackName(host) ? ["127.0.0.1", "::1"] : await resolve(host, accountId);
  if (addresses.length === 0) throw new AddressError(`has a host without an address: ${host}`);
  if (!privateAddresses && !addresses.every(isPublicAddress))
    throw new AddressError("leads to an address that is not on the public internet", { isRefused: true });
  return addresses;
}

/** RFC 6761, section 6.3. */
const isLoopbackName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/** Special IPv4 ranges, which are not public hosts (RFC 6890, and the IANA registry of special-purpose addresses). */
const special: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/**
 * Special ranges within `2000::/3`: protocol assignments with Teredo, documentation, and 6to4, which wraps an IPv4 address. Everything outside
 * `2000::/3` is refused in any case: loopback, link-local, unique-local, multicast, IPv4-mapped and NAT64 addresses.
 */
const special6: [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const refused = new BlockList();
for (const [net, bits] of special) refused.addSubnet(net, bits, "ipv4");
for (const [net, bits] of special6) refused.addSubnet(net, bits, "ipv6");
const global6 = new BlockList();
global6.addSubnet("2000::", 3, "ipv6");

/** Whether an address is on the public internet, so that webhooks may be sent to it (specification 9.6). */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, "ipv4");
  return family === 6 && !address.includes("%") && global6.check(address, "ipv6") && !refused.check(address, "ipv6");
}
