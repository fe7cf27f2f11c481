import type { Decision } from "./windows.ts";

/**
 * Appends the headers of a decision to a flat array of alternating names and values: the three of specification 4.3,
 * `RateLimit` with `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers-11 (lists of structured fields; `t` and `w`
 * in seconds), and on refusals `Retry-After` and the strikes left.
 */
export function pushLimitHeaders(headers: string[], decision: Decision): void {
  headers.push("X-RateLimit-Limit", `${decision.limit}`);
  headers.push("X-RateLimit-Remaining", `${decision.remaining}`);
  headers.push("X-RateLimit-Reset", `${decision.reset}`);
  headers.push("RateLimit", remainingOf(decision));
  headers.push("RateLimit-Policy", policy(decision.perMinute, decision.perDay));
  if (decision.verdict === "pass") return;
  headers.push("Retry-After", `${decision.retryAfterSeconds}`);
  if (decision.strikesRemaining !== null) headers.push("X-RateLimit-Strikes-Remaining", `${decision.strikesRemaining}`);
}

/** Replaces the headers of an earlier decision with those of a later one. Both decisions let the request pass. */
export function replaceLimitHeaders(headers: string[], decision: Decision): void {
  const fresh = limitHeaders(decision);
  headers.splice(headers.indexOf("X-RateLimit-Limit"), fresh.length, ...fresh);
}

/** Returns the headers of a decision as a flat array of alternating names and values. */
export function limitHeaders(decision: Decision): string[] {
  const headers: string[] = [];
  pushLimitHeaders(headers, decision);
  return headers;
}

function remainingOf(decision: Decision): string {
  const minute = `"minute";r=${decision.minuteRemaining};t=${decision.minuteSeconds}`;
  return decision.perDay === Infinity ? minute : `${minute}, "day";r=${decision.dayRemaining};t=${decision.daySeconds}`;
}

/** Policies by requests per minute. There are few, because quotas come from plans. */
const policies = new Map<number, { perDay: number; text: string }>();
const policiesMax = 1_000;

function policy(perMinute: number, perDay: number): string {
  const kept = policies.get(perMinute);
  if (kept?.perDay === perDay) return kept.text;
  const minute = `"minute";q=${perMinute};w=60`;
  const text = perDay === Infinity ? minute : `${minute}, "day";q=${perDay};w=86400`;
  if (policies.size >= policiesMax) policies.clear();
  policies.set(perMinute, { perDay, text });
  return text;
}
