import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { addPageViews, type PageViews } from "./page-views.store.ts";
import { dayOf } from "./page-views.ts";

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
  // The last flush. Flushes run one after the other, because rows stay in the queue while they are written.
  let last = Promise.resolve();

  function seal(): void {
    if (noted.size > 0) waiting.push(...[...noted.values()].slice(0, waitingMax - waiting.length));
    noted = new Map();
  }

  async function writeAll(): Promise<void> {
    seal();
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
    flush() {
      last = last.then(writeAll, writeAll);
      return last;
    },
  };
}
