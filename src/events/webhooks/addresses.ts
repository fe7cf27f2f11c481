import { BlockList, isIP } from "node:net";

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
