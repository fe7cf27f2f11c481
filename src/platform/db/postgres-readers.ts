import type { Bounds } from "../bounds.ts";
import { acquireTimed, release, type ShareLoad } from "../jobs/fair-share.ts";
import { createTally } from "../jobs/tally.ts";
import { openHistogram, waitBounds, type Histogram } from "../metrics.ts";
import type { CallerKey } from "./database.ts";
import { openConnection, ordersByIndex, type Rows, type Statement } from "./postgres-connections.ts";
import { isOutdated } from "./postgres-errors.ts";

/** Connections for reads. The first is for work without an account, and one account's reads use at most half of them. */
export const readersMax = 4;
const readersEach = readersMax / 2;
/** Reads under way on each open connection before another one is opened. */
const readsShared = 32;
/** How long (ms) a connection may leave reads unanswered before new reads avoid it. */
const stalledMs = 100;

export type Readers = {
  read(statement: Statement, account: CallerKey | undefined): Promise<Rows>;
  load(): ShareLoad;
  /** How long (s) work waited for a place, if none was free. */
  waits: Histogram;
  close(): Promise<void>;
};

/**
 * Reads on a few connections, and sends further statements on each before it has answered the earlier ones
 * (pipelining), which saves both sides most of their system calls. Statements of one turn of the event loop are sent
 * together. The next read opens a lost connection again.
 *
 * A slow read delays those behind it on its connection. So the reads of one account, however many and slow, stay on half of
 * the connections, and other accounts then avoid those; reads without an account (keys, published hosts) have a connection
 * that no account uses.
 */
export function openReaders(url: string, bounds: Pick<Bounds, "queue">, onError: (error: unknown) => void): Readers {
  const readers = Array.from({ length: readersMax }, () => openReader(url, onError));
  const forAccounts = readers.slice(1);
  const waits = openHistogram(waitBounds);
  const places = bounds.queue<CallerKey>("connections_reads", { max: readersMax * readsShared, reserved: readsShared });

  function readerFor(account: CallerKey | undefined): Reader {
    if (account === undefined) return readers.find(hasRoom) ?? leastBy(readers, (reader) => reader.underWay());
    const own = forAccounts.filter((reader) => reader.accounts.of(account) > 0);
    const allowed = own.length >= readersEach ? own : forAccounts;
    const free = allowed.filter(hasRoom);
    return leastBy(free.length > 0 ? free : allowed, (reader) => reader.underWay() - reader.accounts.of(account));
  }

  return {
    load: () => places,
    waits,
    async read(statement, account) {
      const refusal = await acquireTimed(places, account, (seconds) => waits.observe(seconds));
      if (refusal !== undefined) throw places.refusal(refusal);
      const begunAt = places.usage.now();
      const reader = readerFor(account);
      if (account !== undefined) reader.accounts.add(account);
      try {
        return await reader.read(statement);
      } finally {
        if (account !== undefined) reader.accounts.take(account);
        release(places, account, places.usage.now() - begunAt);
      }
    },
    async close() {
      await Promise.all(readers.map((reader) => reader.close()));
    },
  };
}

function hasRoom(reader: Reader): boolean {
  return reader.underWay() < readsShared && !reader.isStalled();
}

/** Returns the first reader with the lowest figure. */
function leastBy(readers: Reader[], figure: (reader: Reader) => number): Reader {
  return readers.reduce((least, reader) => (figure(reader) < figure(least) ? reader : least));
}

type Reader = ReturnType<typeof openReader>;

function openReader(url: string, onError: (error: unknown) => void) {
  const connection = openConnection(url, onError, { settings: ordersByIndex });
  let underWay = 0;
  let movedAt = 0;

  return {
    /** Reads of each account under way on this connection. */
    accounts: createTally<CallerKey>(),
    underWay: () => underWay,
    isStalled: () => underWay > 0 && performance.now() - movedAt > stalledMs,
    async read(statement: Statement): Promise<Rows> {
      if (underWay++ === 0) movedAt = performance.now();
      try {
        const client = connection.current() ?? (await connection.open());
        connection.gather();
        return await client.query(statement).catch((error: unknown) => {
          if (!isOutdated(error)) throw error;
          const { name: _name, ...unnamed } = statement;
          return client.query(unnamed);
        });
      } finally {
        underWay--;
        movedAt = performance.now();
      }
    },
    close: connection.close,
  };
}
