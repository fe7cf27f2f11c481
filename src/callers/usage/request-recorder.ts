import { createCache } from "../../platform/cache.ts";
import { type Clock, dayMs } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Exchange } from "../../platform/http/exchange.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import { insertRequests, trimRequests, type LoggedRequest } from "./request-log.store.ts";

/**
 * The log of requests (specification 4.11): the newest requests of each account, for the dashboard. An answer is noted in memory, and written in
 * batches every few seconds. The log has no values of paths, no queries, headers or bodies. It may lack requests: those beyond the bounds below, and
 * those of the last seconds before a kill or of a write that failed.
 */

/** How long requests are kept, and how many of each account; up to `trimEvery` more for each node until they are trimmed. */
export const keptMs = 7 * dayMs;
export const requestsKept = 5_000;
const trimEvery = 500;

/** The most requests of one account, and of all accounts, between two writes. Of an account the newest are kept. */
const perAccountMax = 200;
const inAllMax = 5_000;
/** The most rows of one transaction. */
const rowsPerWrite = 1_000;
/** The accounts whose rows since the last trim are counted. */
const accountsCounted = 50_000;

export type RequestLog = {
  /** Notes an answered request, if it had a valid key. Takes well below a microsecond, never waits and never throws. */
  record(exchange: Pick<Exchange, "identified" | "method" | "template" | "status">): void;
  /** Writes the noted requests, or drops them and rejects. */
  flush(): Promise<void>;
};

/** The requests of one account between two writes; at the bound, `next` is the place of the oldest, which the next replaces. */
type Noted = { requests: LoggedRequest[]; next: number };

export function openRequestLog({ db, clock }: { db: Database; clock: Clock }): RequestLog {
  let noted = new Map<number, Noted>();
  let inAll = 0;
  let lastPosition = 0;
  const sinceTrim = createCache<number, number>(accountsCounted);

  async function write(): Promise<void> {
    const written = noted;
    if (written.size === 0) return;
    noted = new Map();
    inAll = 0;
    const rows = [...written.values()].flatMap(({ requests }) => requests);
    for (let i = 0; i < rows.length; i += rowsPerWrite) await db.write((tx) => insertRequests(tx, rows.slice(i, i + rowsPerWrite)));
    for (const [accountId, { requests }] of written) {
      // the first rows after a start count as many, because earlier processes may have left some untrimmed
      const count = (sinceTrim.get(accountId) ?? trimEvery) + requests.length;
      sinceTrim.set(accountId, count >= trimEvery ? 0 : count);
      if (count >= trimEvery) await trimRequests(db, accountId, requestsKept);
    }
  }

  return {
    record({ identified, method, template, status }) {
      if (identified?.keyId === undefined || status === 0) return;
      const { accountId, keyId } = identified;
      let ofAccount = noted.get(accountId);
      if (!ofAccount) noted.set(accountId, (ofAccount = { requests: [], next: 0 }));
      const { requests } = ofAccount;
      lastPosition = Math.max(lastPosition + 1, clock() * 1_000);
      const request = { accountId, position: lastPosition, keyId, method, route: template ?? null, status };
      if (requests.length === perAccountMax) {
        requests[ofAccount.next] = request;
        ofAccount.next = (ofAccount.next + 1) % perAccountMax;
      } else if (inAll < inAllMax) {
        inAll += 1;
        requests.push(request);
      }
    },
    flush: coalesced(write).run,
  };
}
