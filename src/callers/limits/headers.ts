import { createCache } from "../../platform/cache.ts";
import type { Decision } from "./windows.ts";

/**
 * Returns the header lines of a decision, each with its CRLF: the `X-RateLimit` headers (specification 4.3), and `RateLimit` and
 * `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11: structured-field lists, `t` and `w` in seconds). A refusal
 * adds `Retry-After` and the strikes left.
 */
export function limitHeaders(decision: Decision): string {
  const { remaining, minuteRemaining, perDay, dayRemaining, verdict, retryAfterSeconds, strikesRemaining } = decision;
  const { first, second, third, last } = templateOf(decision);
  const day = perDay === Infinity ? "" : third + dayRemaining;
  const lines = first + remaining + second + minuteRemaining + day + last;
  if (verdict === "pass") return lines;
  const strikes = strikesRemaining === null ? "" : `X-RateLimit-Strikes-Remaining: ${strikesRemaining}\r\n`;
  return `${lines}Retry-After: ${retryAfterSeconds}\r\n${strikes}`;
}

type SharedHeaders = Pick<Decision, "limit" | "reset" | "perMinute" | "minuteSeconds" | "perDay" | "daySeconds">;

/** The text around the counts: the same for all requests of a plan within a second. */
type Template = SharedHeaders & { first: string; second: string; third: string; last: string };

/** The last template for each number of requests per minute. There are few, because quotas come from plans. */
const templates = createCache<number, Template>(1_000);

function templateOf(decision: SharedHeaders): Template {
  const known = templates.peek(decision.perMinute);
  return known && isSame(known, decision) ? known : templates.set(decision.perMinute, newTemplate(decision));
}

function isSame(a: SharedHeaders, b: SharedHeaders): boolean {
  return (
    a.reset === b.reset &&
    a.limit === b.limit &&
    a.minuteSeconds === b.minuteSeconds &&
    a.perDay === b.perDay &&
    a.daySeconds === b.daySeconds
  );
}

function newTemplate({ limit, reset, perMinute, minuteSeconds, perDay, daySeconds }: SharedHeaders): Template {
  const policy = `"minute";q=${perMinute};w=60${perDay === Infinity ? "" : `, "day";q=${perDay};w=86400`}`;
  return {
    limit,
    reset,
    perMinute,
    minuteSeconds,
    perDay,
    daySeconds,
    first: `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: `,
    second: `\r\nX-RateLimit-Reset: ${reset}\r\nRateLimit: "minute";r=`,
    third: `;t=${minuteSeconds}, "day";r=`,
    last: `;t=${perDay === Infinity ? minuteSeconds : daySeconds}\r\nRateLimit-Policy: ${policy}\r\n`,
  };
}
