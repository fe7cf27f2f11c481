import type { IncomingHttpHeaders } from "node:http";
import { dayMs } from "../../platform/clock.ts";

/**
 * The page views of storefronts (specification 6.7): how many pages each account's storefronts have shown on each day in UTC, to what looks
 * like a browser. There are no cookies, addresses or identifiers, so it says nothing about who saw them, and cannot tell one visitor from two. A view is
 * noted in memory, and written in batches every few seconds. The counts may lack views: those of the last seconds before a kill, and those beyond the bound.
 */

/** How many days are kept, today included. */
export const daysKept = 90;

/** The days since 1970-01-01 in UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / dayMs);
}

const userAgentMax = 500;
const robots =
  /bot|crawl|spider|slurp|fetch|preview|monitor|check|scan|archive|headless|lighthouse|facebookexternalhit|python|curl|wget|http/i;

/**
 * Whether a request looks like that of a browser which shows the page to a person. Every browser's `User-Agent` begins with `Mozilla/` or `Opera/`;
 * well-behaved robots name themselves in it. A page that is fetched ahead of a click is not shown.
 */
export function isShownToPerson(headers: IncomingHttpHeaders): boolean {
  const agent = headers["user-agent"] ?? "";
  if (!agent.startsWith("Mozilla/") && !agent.startsWith("Opera/")) return false;
  if (robots.test(agent.slice(0, userAgentMax))) return false;
  return ![headers["sec-purpose"], headers["purpose"]].some((purpose) => String(purpose).includes("prefetch"));
}
