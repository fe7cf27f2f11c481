import type { CaaRecord, FailureReason, Lookup } from "./lookup.ts";

/** One step of the climb: a name of the tree, and the CAA records found at it. */
export type CaaStep = { name: string; lookup: Lookup<CaaRecord> };

/**
 * Whether an authority may issue for a name. `blocked`: `at` is the name that holds the deciding records; `critical_tag` is a property
 * with the critical flag that no authority here understands. `unknown`: a look-up failed, and an authority would refuse as well.
 */
export type CaaVerdict =
  | { outcome: "allowed" }
  | { outcome: "blocked"; at: string; records: CaaRecord[]; reason: "other_authority" | "critical_tag" }
  | { outcome: "unknown"; at: string; reason: FailureReason; server: string };

/**
 * Both bits: RFC 8659 has 128 alone, but zones that write 1 for "critical" are so many that Let's Encrypt reads it so.
 * A preflight that is laxer than the authority would spend an order in vain.
 */
const criticalFlags = 128 | 1;
const knownTags = new Set(["issue", "issuewild", "iodef", "issuemail"]);

/** The names whose CAA records count, nearest first: www.example.com, example.com, com (RFC 8659 section 3). */
export function caaNames(hostname: string): string[] {
  const labels = hostname.split(".");
  return labels.map((_, index) => labels.slice(index).join("."));
}

/**
 * RFC 8659: the nearest name with records decides, and a look-up that failed before it leaves the question open.
 * `identities` are the authority's domains; without any, records that name authorities block. Parameters are not read.
 */
export function judgeCaa(steps: CaaStep[], identities: readonly string[], wildcard = false): CaaVerdict {
  for (const { name, lookup } of steps) {
    if (lookup.outcome === "none") continue;
    if (lookup.outcome === "failed") return { outcome: "unknown", at: name, reason: lookup.reason, server: lookup.server };
    const records = lookup.records.map(({ value }) => value);
    const reason = objection(records, identities, wildcard);
    return reason === null ? { outcome: "allowed" } : { outcome: "blocked", at: lookup.records[0]?.owner ?? name, records, reason };
  }
  return { outcome: "allowed" };
}

function objection(records: CaaRecord[], identities: readonly string[], wildcard: boolean): "other_authority" | "critical_tag" | null {
  const tagged = (tag: string): CaaRecord[] => records.filter((record) => record.tag.toLowerCase() === tag);
  if (records.some(({ flags, tag }) => (flags & criticalFlags) !== 0 && !knownTags.has(tag.toLowerCase()))) return "critical_tag";
  const wild = wildcard ? tagged("issuewild") : [];
  const relevant = wild.length > 0 ? wild : tagged("issue");
  if (relevant.length === 0) return null;
  const named = new Set(relevant.map(({ value }) => issuerOf(value)));
  return identities.some((identity) => named.has(identity.toLowerCase())) ? null : "other_authority";
}

/** The authority that an issue value names; null for `""`, `";"` and whatever breaks the grammar, which all name nobody (sections 4.2 and 4.3). */
function issuerOf(value: string): string | null {
  const [, issuer] = /^[ \t]*([a-z0-9-]+(?:\.[a-z0-9-]+)*)[ \t]*(?:;.*)?$/is.exec(value) ?? [];
  return issuer?.toLowerCase() ?? null;
}
