import type { Decision } from "./windows.ts";

/** Response headers by lower-case name. The last two are on refusals only. */
export type LimitHeaders = {
  "x-ratelimit-limit": string;
  "x-ratelimit-remaining": string;
  "x-ratelimit-reset": string;
  ratelimit: string;
  "ratelimit-policy": string;
  "retry-after"?: string;
  "x-ratelimit-strikes-remaining"?: string;
};

/**
 * The headers of a decision: the three of the specification (part 8), and `RateLimit` with `RateLimit-Policy` as in
 * draft-ietf-httpapi-ratelimit-headers-11 (lists of structured fields; `t` and `w` in seconds).
 */
export function limitHeaders(decision: Decision): LimitHeaders {
  const headers: LimitHeaders = {
    "x-ratelimit-limit": `${decision.limit}`,
    "x-ratelimit-remaining": `${decision.remaining}`,
    "x-ratelimit-reset": `${decision.reset}`,
    ratelimit: standing(decision),
    "ratelimit-policy": policy(decision.perMinute, decision.perDay),
  };
  if (decision.verdict !== "pass") {
    headers["retry-after"] = `${decision.retryAfterSeconds}`;
    headers["x-ratelimit-strikes-remaining"] = `${decision.strikesRemaining}`;
  }
  return headers;
}

function standing(decision: Decision): string {
  const minute = `"minute";r=${decision.minuteRemaining};t=${decision.minuteSeconds}`;
  return decision.perDay === Infinity ? minute : `${minute}, "day";r=${decision.dayRemaining};t=${decision.daySeconds}`;
}

/** Policies by requests per minute: few, since quotas come from plans. */
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
