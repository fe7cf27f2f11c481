import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import type { Database, DatabaseLoad, Transaction, WriteOptions } from "./database.ts";
import { translate } from "./postgres-errors.ts";
import { openReaders } from "./postgres-readers.ts";
import { statementOf } from "./postgres-statements.ts";
import { transact } from "./postgres-transactions.ts";
import { openWriters, writersMax } from "./postgres-writers.ts";
import { stopping } from "./unavailable.ts";

/** How often a transaction that collides with others is run, and the pause before it runs again (doubled each time, a random part of it). */
const triesMax = 6;
const pauseMs = 10;

/**
 * The engine for many nodes: PostgreSQL through `pg`. Nothing is connected before the first query; a connection that is
 * lost is opened again when it is next needed. A body runs in a transaction of its own at READ COMMITTED, so it locks the
 * rows that it decides by; it is run again when it collides with another one (serialization failure, deadlock), or asks to start over.
 *
 * Accounts share the connections (`jobs/fair-share.ts`): busy or waiting transactions of one account delay no other
 * account.
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

  async function attempts<T>(account: number | undefined, body: (tx: Transaction) => Promise<T>, options: WriteOptions): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const { client, giveBack } = await writers.take(account);
      const outcome = await transact(client, body, options);
      giveBack(outcome.isBroken);
      if (outcome.isCommitted) return outcome.value;
      if (!outcome.collided || attempt === triesMax) throw outcome.error;
      await sleep(pauseMs * 2 ** attempt * Math.random());
    }
  }

  async function query<R>(account: number | undefined, text: Sql): Promise<R[]> {
    if (closed) throw stopping();
    try {
      return (await readers.read(statementOf(text), account)).rows as R[];
    } catch (error) {
      throw translate(error);
    }
  }

  async function write<T>(account: number | undefined, body: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (closed) throw stopping();
    const result = attempts(account, body, options);
    running.add(result);
    try {
      return await result;
    } finally {
      running.delete(result);
    }
  }

  function load(): DatabaseLoad {
    const [reads, writes] = [readers.load(), writers.load()];
    return {
      reads: reads.inUse + reads.waiting,
      writes: running.size,
      pool: {
        connections: writes.inUse,
        connectionsMax: writersMax,
        waiting: { reads: reads.waiting, writes: writes.waiting },
        refused: { reads: reads.refused, writes: writes.refused },
      },
    };
  }

  const handleOf = (account: number | undefined): Database => ({
    engine: "postgres",
    query: (text) => query(account, text),
    write: (body, options) => write(account, body, options),
    forAccount: handleOf,
    load,
    close,
  });

  async function close(): Promise<void> {
    closed = true;
    await Promise.allSettled(running);
    await Promise.all([readers.close(), writers.close()]);
  }

  return handleOf(undefined);
}
