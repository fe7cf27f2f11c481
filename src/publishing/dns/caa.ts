import type { CaaRecord, FailureReason, Lookup } from "./lookup.ts";

/** A name on the way from the host name up to the root, and the CAA records found there. */
export type CaaStep = { name: string; lookup: Lookup<CaaRecord> };

/**
 * The certificate authority as CAA records name it. `identities`: its names there; empty if it publishes none.
 * `accountUrl`: the URL of this service's account there; null until it is known.
 */
export type CaaAuthority = { identities: readonly string[]; accountUrl: string | null };

/**
 * Whether an authority may issue for a name.
 * - `blocked`: `at` is the name that holds the deciding records. `restricted`: they name the authority, but only for another account or other
 *   validation methods. `critical_tag`: a record has the critical flag and a tag that authorities do not know.
 * - `unknown`: a look-up failed. An authority would refuse as well.
 */
export type CaaVerdict =
  | { outcome: "allowed" }
  | { outcome: "blocked"; at: string; records: CaaRecord[]; reason: Objection }
  | { outcome: "unknown"; at: string; reason: FailureReason; server: string };

type Objection = "other_authority" | "restricted" | "critical_tag";

/**
 * RFC 8659 defines 128 alone, but so many zones write 1 for "critical" that Let's Encrypt accepts both.
 * A preflight that is laxer than the authority would waste an order.
 */
const criticalFlags = 128 | 1;
const knownTags = new Set(["issue", "issuewild", "iodef", "issuemail"]);

/** The names whose CAA records count, nearest first: www.example.com, example.com, com (RFC 8659 section 3). */
export function caaNames(hostname: string): string[] {
  const labels = hostname.split(".");
  return labels.map((_, index) => labels.slice(index).join("."));
}

/** The validation methods of this service, as `validationmethods` names them. */
const ownMethods = new Set(["http-01", "tls-alpn-01"]);

/**
 * Follows RFC 8659: the nearest name with records decides; if a look-up failed at a nearer name, the result is `unknown`. Applies the parameters of
 * RFC 8657 and ignores others. An authority without names is blocked only by records that block every authority.
 */
export function judgeCaa(steps: CaaStep[], authority: CaaAuthority, wildcard = false): CaaVerdict {
  for (const { name, lookup } of steps) {
    if (lookup.outcome === "none") continue;
    if (lookup.outcome === "failed") return { outcome: "unknown", at: name, reason: lookup.reason, server: lookup.server };
    const records = lookup.records.map(({ value }) => value);
    const reason = objection(records, authority, wildcard);
    return reason === null ? { outcome: "allowed" } : { outcome: "blocked", at: lookup.records[0]?.owner ?? name, records, reason };
  }
  return { outcome: "allowed" };
}

function objection(records: CaaRecord[], { identities, accountUrl }: CaaAuthority, wildcard: boolean): Objection | null {
  const tagged = (tag: string): CaaRecord[] => records.filter((record) => record.tag.toLowerCase() === tag);
  if (records.some(({ flags, tag }) => (flags & criticalFlags) !== 0 && !knownTags.has(tag.toLowerCase()))) return "critical_tag";
  const wild = wildcard ? tagged("issuewild") : [];
  const relevant = wild.length > 0 ? wild : tagged("issue");
  if (relevant.length === 0) return null;
  const issuers = relevant.flatMap(({ value }) => issuerOf(value) ?? []);
  if (identities.length === 0) return issuers.length > 0 ? null : "other_authority";
  const own = new Set(identities.map((identity) => identity.toLowerCase()));
  const naming = issuers.filter(({ name }) => own.has(name));
  if (naming.length === 0) return "other_authority";
  return naming.some(({ parameters }) => permits(parameters, accountUrl)) ? null : "restricted";
}

type Issuer = { name: string; parameters: Map<string, string[]> };

/** The authority that an issue value names; null for `""`, `";"` and an invalid value, which name no authority (sections 4.2 and 4.3). */
function issuerOf(value: string): Issuer | null {
  const [, name, rest = ""] = /^[ \t]*([a-z0-9-]+(?:\.[a-z0-9-]+)*)[ \t]*(?:;(.*))?$/is.exec(value) ?? [];
  if (name === undefined) return null;
  const parameters = rest.split(";").flatMap((text): [string, string][] => {
    const [, tag, content] = /^([a-z0-9-]+)[ \t]*=[ \t]*(\S*)$/i.exec(text.trim()) ?? [];
    return tag === undefined || content === undefined ? [] : [[tag.toLowerCase(), content]];
  });
  const grouped = Map.groupBy(parameters, ([tag]) => tag);
  return { name: name.toLowerCase(), parameters: new Map([...grouped].map(([tag, of]) => [tag, of.map(([, content]) => content)])) };
}

/** RFC 8657: `accounturi` (section 3), which blocks everybody if it appears twice, and `validationmethods` (section 4). */
function permits(parameters: Issuer["parameters"], accountUrl: string | null): boolean {
  const accounts = parameters.get("accounturi") ?? [];
  if (accounts.length > 1) return false;
  if (accountUrl !== null && accounts.some((account) => account !== accountUrl)) return false;
  return (parameters.get("validationmethods") ?? []).every((methods) => methods.split(",").some((method) => ownMethods.has(method)));
}
