import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import type { Database, Transaction, WriteOptions } from "./database.ts";
import { openReaders, openWriters } from "./postgres-connections.ts";
import { translate } from "./postgres-errors.ts";
import { statementOf } from "./postgres-statements.ts";
import { transact } from "./postgres-transactions.ts";
import { stopping } from "./unavailable.ts";

/** How often a transaction that collides with others is run, and the pause before it runs again (doubled each time, a random part of it). */
const triesMax = 6;
const pauseMs = 10;

/**
 * The engine for many nodes: PostgreSQL through `pg`. Nothing is connected before the first query; a connection that is
 * lost is opened again when it is next needed. A body runs in a transaction of its own at READ COMMITTED, so it locks the
 * rows that it decides by; it is run again when it collides with another one (serialization failure, deadlock).
 *
 * Whatever keeps the server from answering raises the `unavailable` problem: at once where connections are refused, at
 * the latest after the time that connecting and one statement may take.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param onError hears of connections that break while nobody waits for them
 */
export function openPostgres(url: string, { onError }: { onError: (error: unknown) => void }): Database {
  const readers = openReaders(url, onError);
  const writers = openWriters(url, onError);
  const running = new Set<Promise<unknown>>();
  let closed = false;

  async function write<T>(body: (tx: Transaction) => Promise<T>, options: WriteOptions): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const { client, giveBack } = await writers.take();
      const outcome = await transact(client, body, options);
      giveBack(outcome.isBroken);
      if (outcome.isCommitted) return outcome.value;
      if (!outcome.collided || attempt === triesMax) throw outcome.error;
      await sleep(pauseMs * 2 ** attempt * Math.random());
    }
  }

  return {
    engine: "postgres",
    async query<R>(query: Sql): Promise<R[]> {
      if (closed) throw stopping();
      try {
        return (await readers.read(statementOf(query))).rows as R[];
      } catch (error) {
        throw translate(error);
      }
    },
    async write(body, options = {}) {
      if (closed) throw stopping();
      const result = write(body, options);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    load: () => ({ reads: readers.underWay(), writes: running.size }),
    async close() {
      closed = true;
      await Promise.allSettled(running);
      await Promise.all([readers.close(), writers.close()]);
    },
  };
}
