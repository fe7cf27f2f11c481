import { domainToASCII } from "node:url";
import { Problem } from "../../platform/problem.ts";
import { parseStorefront, type StorefrontSettings } from "../storefront/settings.ts";

export const redirectStatuses = [301, 302, 307, 308] as const;
export type RedirectStatusCode = (typeof redirectStatuses)[number];
type ProjectRedirect = { from: string; to: string; status: RedirectStatusCode };

/**
 * The content of `petstore.json`. Host names are in lower case and punycode; the domain rules decide whether they may be attached. An empty list
 * of redirects removes them, an absent one changes nothing.
 */
export type ProjectFile = {
  name: string | undefined;
  domains: { primary: string | undefined; redirects: ProjectRedirect[] | undefined };
  /** Undefined if the deployment serves only its files. */
  storefront: StorefrontSettings | undefined;
};

export const projectFileName = "petstore.json";
export const projectFileBytesMax = 64 * 1024;
export const redirectsMax = 100;
const nameLengthMax = 200;
/** The most characters of a host name as written: mapping it to ASCII takes quadratic time. A mapped name has at most 253. */
const typedLengthMax = 512;

/** Quotes a name from an archive for a message, on one line. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
}

function refuse(why: string): never {
  throw new Problem("invalid_request", `${projectFileName}: ${why}`);
}

/** Parses `petstore.json` (specification 6.4). Each refusal names the field and what to write instead. */
export function parseProjectFile(bytes: Uint8Array): ProjectFile {
  const file = asObject(parseJson(bytes), "the file", ["$schema", "name", "domains", "storefront"]);
  const domains = file.domains === undefined ? {} : asObject(file.domains, "`domains`", ["primary", "redirects"]);
  const primary = domains.primary === undefined ? undefined : asHostname(domains.primary, "`domains.primary`");
  const redirects = domains.redirects === undefined ? undefined : asRedirects(domains.redirects);
  requireRedirects(redirects ?? [], primary, (place, why) => refuse(`${place}: ${why}`));
  const storefront = file.storefront === undefined ? undefined : parseStorefront(file.storefront, refuse);
  return { name: file.name === undefined ? undefined : asName(file.name), domains: { primary, redirects }, storefront };
}

/** The storefront as the database stores it: its settings and the shop's name. Null without a storefront. */
export function storefrontText({ name, storefront }: ProjectFile): string | null {
  return storefront === undefined ? null : JSON.stringify({ name, settings: storefront });
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    refuse("is not UTF-8 text. Save it as UTF-8.");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    refuse(`is not JSON: ${(error as SyntaxError).message}`);
  }
}

function asObject(value: unknown, where: string, fields: string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(`${where} must be an object in braces.`);
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) refuse(`${where} has an unknown field ${quoted(unknown)}; known are ${fields.join(", ")}.`);
  return value as Record<string, unknown>;
}

function asName(value: unknown): string {
  const name = typeof value === "string" ? value.trim() : "";
  if (name === "" || name.length > nameLengthMax) refuse(`\`name\` must be a text of 1 to ${nameLengthMax} characters.`);
  return name;
}

function asHostname(value: unknown, where: string): string {
  if (typeof value !== "string") refuse(`${where} must be a host name in quotes, as in "www.example.com".`);
  if (/[/:@?#]/.test(value)) refuse(`${where} is ${quoted(value)}: write the host name alone, as in "www.example.com".`);
  const hostname = value.length > typedLengthMax || /[\s*%\\]/.test(value) ? "" : domainToASCII(value.replace(/\.$/, "")).toLowerCase();
  const labels = hostname.split(".");
  const valid = hostname.length <= 253 && labels.length > 1 && labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label));
  if (!valid || /^\d+$/.test(labels.at(-1) ?? "")) refuse(`${where} is ${quoted(value)}, which is not a public host name.`);
  return hostname;
}

function asRedirects(value: unknown): ProjectRedirect[] {
  if (!Array.isArray(value)) refuse("`domains.redirects` must be a list in brackets.");
  if (value.length > redirectsMax) refuse(`\`domains.redirects\` has ${value.length} entries; the limit is ${redirectsMax}.`);
  return value.map((entry, index) => {
    const where = `domains.redirects[${index}]`;
    const { from, to, status: given = 301 } = asObject(entry, `\`${where}\``, ["from", "to", "status"]);
    const status = redirectStatuses.find((one) => one === given);
    if (status === undefined) refuse(`\`${where}.status\` must be 301, 302, 307 or 308.`);
    return { from: asHostname(from, `\`${where}.from\``), to: asHostname(to, `\`${where}.to\``), status };
  });
}

/**
 * Refuses redirects that the names of one project cannot have together: two of one name, one of the primary name, and one whose target redirects.
 *
 * @param refuseAt throws a refusal that names the place in the file
 */
export function requireRedirects(
  redirects: readonly { from: string; to: string }[],
  primary: string | undefined,
  refuseAt: (place: string, why: string) => never,
): void {
  const targets = new Map<string, string>();
  for (const [index, { from, to }] of redirects.entries()) {
    const place = `domains.redirects[${index}].from`;
    if (targets.has(from)) refuseAt(place, `${from} has more than one redirect.`);
    if (from === primary) refuseAt(place, `${from} is the primary name, so it cannot redirect.`);
    targets.set(from, to);
  }
  for (const [index, { from }] of redirects.entries()) {
    const why = redirectRefusal(targets, from);
    if (why !== undefined) refuseAt(`domains.redirects[${index}].to`, why);
  }
}

/** Why the target of the redirect `from` does not serve the site; undefined if it does. `targets`: the target of each name that redirects. */
export function redirectRefusal(targets: ReadonlyMap<string, string>, from: string): string | undefined {
  const to = targets.get(from);
  const next = to === undefined ? undefined : targets.get(to);
  if (to === undefined || next === undefined) return undefined;
  if (to === from) return `${from} cannot redirect to itself.`;
  const loop = loopFrom(targets, from);
  return loop === undefined
    ? `${from} would redirect to ${to}, which redirects to ${next}: redirect both to the name that serves the site.`
    : `These redirects make a loop: ${loop.join(" → ")}.`;
}

/** The names from `start` back to `start`; undefined if its redirects lead elsewhere. Takes no more steps than there are redirects. */
function loopFrom(targets: ReadonlyMap<string, string>, start: string): string[] | undefined {
  const path = [start];
  for (let step = 0; step < targets.size; step++) {
    const next = targets.get(path.at(-1)!);
    if (next === undefined) return undefined;
    path.push(next);
    if (next === start) return path;
  }
  return undefined;
}
