import type { IncomingHttpHeaders } from "node:http";
import { type Clock, dayMs } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import type { PageViews } from "./page-views.store.ts";

/**
 * The page views of storefronts (specification 6.7): how many pages each account's storefronts have shown on each day in UTC, to what looks
 * like a browser. There are no cookies, addresses or identifiers, so it says nothing about who saw them, and cannot tell one visitor from two. A view is
 * noted in memory, and written in batches every few seconds. The counts may lack views: those of the last seconds before a kill, and those beyond the bound.
 */

/** The most accounts and days that wait for the database. */
const waitingMax = 50_000;
/** The most rows of one transaction. */
const rowsPerWrite = 1_000;

export type PageViewCounter = {
  /** Notes a page that was shown. Takes well below a microsecond, never waits and never throws. */
  count(accountId: number): void;
  /** Writes the noted views. If that fails it rejects, and the next call writes what is left. */
  flush(): Promise<void>;
};

export function openPageViews({ db, clock }: { db: Database; clock: Clock }): PageViewCounter {
  let noted = new Map<number, PageViews>();
  let waiting: PageViews[] = [];

  function seal(): void {
    if (noted.size > 0) waiting.push(...[...noted.values()].slice(0, waitingMax - waiting.length));
    noted = new Map();
  }

  async function writeAll(): Promise<void> {
    seal();
    if (waiting.length === 0) return;
    const { addPageViews } = await import("./page-views.store.ts"); // many services have no storefront
    while (waiting.length > 0) {
      const some = waiting.slice(0, rowsPerWrite);
      await db.write((tx) => addPageViews(tx, some));
      waiting = waiting.slice(some.length);
    }
  }

  return {
    count(accountId) {
      const day = dayOf(clock());
      let views = noted.get(accountId);
      if (views !== undefined && views.day !== day) {
        seal();
        views = undefined;
      }
      if (views !== undefined) views.views += 1;
      else if (noted.size < waitingMax) noted.set(accountId, { accountId, day, views: 1 });
    },
    flush: coalesced(writeAll).run,
  };
}

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
