import { isIP, isIPv6 } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";
import { parse } from "tldts";
import { Problem } from "../../platform/problem.ts";

export type DomainKind = "subdomain" | "apex";

/** A name that may be attached: lower case, IDN as punycode, no final dot. */
export type Hostname = { hostname: string; registrableDomain: string; kind: DomainKind };

/** The names of the service itself, in lower case and without a final dot. */
export type ServiceNames = { platformDomain: string; publicHost: string };

/** The record that the owner creates at the registrar; `name` is relative to the registrable domain, `ttl` in seconds. */
export type DnsRecord = { type: "CNAME" | "ALIAS"; name: string; value: string; ttl: number };

const typedCharactersMax = 1024;
const nameCharactersMax = 253;
const labelCharactersMax = 63;
const recordTtlSeconds = 3600;

/**
 * Reads a host name as people type it: any case, surrounding space, a final dot, IDN in either form.
 * The registrable domain is that of the Public Suffix List, private part included.
 *
 * @throws Problem `invalid_request` at `path`, with the reason, for anything that cannot be a customer's public host name
 */
export function parseHostname(text: string, own: ServiceNames, path = "body.hostname"): Hostname {
  const typed = text.trim();
  const asTyped = refusalAsTyped(typed);
  if (asTyped !== null) throw refusal(path, asTyped);
  const hostname = domainToASCII(typed.toLowerCase()).replace(/\.$/, "");
  const reason = refusalOfSyntax(hostname) ?? refusalOfOwnNames(hostname, own) ?? refusalOfPurpose(hostname);
  if (reason !== null) throw refusal(path, reason);
  const { domain } = publicSuffixOf(hostname);
  if (domain === null)
    throw refusal(path, `${hostname} is a public suffix: names are registered below it. Enter your own name, such as shop.${hostname}.`);
  return { hostname, registrableDomain: domain, kind: hostname === domain ? "apex" : "subdomain" };
}

/** Whether a text can be `{platform_domain}`: a host name of at least two labels, in lower case (RFC 1123, section 2.1). */
export function isPlatformDomain(text: string): boolean {
  const labels = text.split(".");
  return text.length <= 189 && labels.length > 1 && labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

/**
 * The registrable domain that the service's own address shares with its published projects, or null. Their pages could set cookies
 * for it (RFC 6265, 5.3), and browsers would send those to the dashboard too.
 */
export function sharedDomain({ platformDomain, publicHost }: ServiceNames): string | null {
  if (isIP(publicHost) !== 0) return null;
  const { domain } = publicSuffixOf(publicHost.replace(/\.$/, ""));
  return domain !== null && domain === publicSuffixOf(platformDomain).domain ? domain : null;
}

/** The record that makes a name point here (specification 5.2). */
export function recordFor(name: Hostname, platformDomain: string): DnsRecord {
  return {
    type: name.kind === "apex" ? "ALIAS" : "CNAME",
    name: relativeName(name.hostname, name.registrableDomain),
    value: platformDomain,
    ttl: recordTtlSeconds,
  };
}

/** A name as registrars expect it: `www` for www.example.com, `@` for example.com itself; a name outside the domain stays whole. */
export function relativeName(name: string, registrableDomain: string): string {
  if (name === registrableDomain) return "@";
  return name.endsWith(`.${registrableDomain}`) ? name.slice(0, -registrableDomain.length - 1) : name;
}

const refusal = (path: string, reason: string): Problem => new Problem("invalid_request", reason, { details: [{ path, message: reason }] });

/** Refuses what people paste by mistake. Runs before the IDN mapping, which would refuse it without a reason. */
function refusalAsTyped(typed: string): string | null {
  if (typed === "") return "Enter a host name, such as www.example.com.";
  if (typed.length > typedCharactersMax) return tooLong;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) return "Enter the host name alone, without http:// or https:// in front of it.";
  if (isIPv6(typed.replace(/^\[|\](:\d+)?$/g, "")) || endsInNumber.test(typed)) return notAnAddress;
  if (typed.includes("@")) return "Enter a host name, not an email address.";
  if (/[/\\?#]/.test(typed)) return "Enter the host name alone, without a path behind it.";
  if (typed.includes(":")) return "Enter the host name alone, without a port behind it.";
  if (typed.includes("*")) return "Wildcards cannot be added: add each name separately.";
  if (typed.includes("_")) return "A host name has no underscores.";
  if (/\s/.test(typed)) return "A host name has no spaces.";
  const stray = /[\p{Cc}!"$%&'()+,;<=>[\]^`{|}~]/u.exec(typed);
  return stray === null ? null : `A host name has no ${/\p{Cc}/u.test(stray[0]) ? "control characters" : `"${stray[0]}"`}.`;
}

const tooLong = `A host name has at most ${nameCharactersMax} characters.`;
/** An IPv4 address in any notation, or a broken one (WHATWG URL, "ends in a number"). */
const endsInNumber = /(^|\.)(\d+|0x[0-9a-f]*)\.?$/i;
const notAnAddress = "Enter a host name, not an IP address.";

/** RFC 1035 section 2.3.4 (lengths), RFC 1123 section 2.1 (characters, an alphabetic end), RFC 5890 section 2.3.1 (the two hyphens). */
function refusalOfSyntax(hostname: string): string | null {
  if (hostname === "") return "This is not a valid international host name.";
  const labels = hostname.split(".");
  if (labels.includes("")) return "A part of this host name is empty: it has one dot too many.";
  if (endsInNumber.test(hostname)) return notAnAddress;
  if (hostname.length > nameCharactersMax) return tooLong;
  if (labels.some((label) => label.length > labelCharactersMax))
    return `Each part of a host name has at most ${labelCharactersMax} characters.`;
  if (labels.some((label) => !/^[a-z0-9-]+$/.test(label))) return "A host name has letters, digits and hyphens only.";
  if (labels.some((label) => label.startsWith("-") || label.endsWith("-"))) return "No part of a host name begins or ends with a hyphen.";
  if (!/[a-z]/.test(labels.at(-1) ?? "")) return "The last part of a host name has a letter, as in .com.";
  const reserved = labels.find((label) => label.slice(2, 4) === "--" && !isPunycode(label));
  return reserved === undefined
    ? null
    : `"${reserved}" is not a valid part of a host name: two hyphens there mark punycode, and this is not punycode.`;
}

/** Whether an `xn--` label decodes to a text. `domainToASCII` accepts labels that do not. */
const isPunycode = (label: string): boolean => label.startsWith("xn--") && domainToUnicode(label) !== label;

function refusalOfOwnNames(hostname: string, own: ServiceNames): string | null {
  if (hostname === own.publicHost) return `${hostname} is the address of this service itself.`;
  if (hostname !== own.platformDomain && !hostname.endsWith(`.${own.platformDomain}`)) return null;
  return `Names under ${own.platformDomain} are assigned by this service: each project has one already.`;
}

/**
 * Top-level names that public DNS never has: RFC 6761 (localhost, invalid), 6762 (local), 7686 (onion), 3172 (arpa), 9476 (alt), and ICANN's `internal`.
 * `test` and `example` are not among them: software should treat them as any other name (RFC 6761 sections 6.2 and 6.5).
 */
const specialUse = new Set(["localhost", "invalid", "local", "onion", "arpa", "alt", "internal"]);

function refusalOfPurpose(hostname: string): string | null {
  const last = hostname.slice(hostname.lastIndexOf(".") + 1);
  if (specialUse.has(last)) return `Names under .${last} are reserved and cannot be reached by your visitors.`;
  if (hostname !== last) return null;
  return publicSuffixOf(hostname).isIcann === true ? null : "A host name has at least two parts, such as example.com.";
}

const publicSuffixOf = (hostname: string) =>
  parse(hostname, { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false, mixedInputs: false });
