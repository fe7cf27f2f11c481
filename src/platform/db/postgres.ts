import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "sql-template-tag";
import type { Database, DatabaseLoad, Transaction, WriteOptions } from "./database.ts";
import { translate } from "./postgres-errors.ts";
import { openReaders, type Readers } from "./postgres-readers.ts";
import { statementOf } from "./postgres-statements.ts";
import { transact } from "./postgres-transactions.ts";
import { openWriters, writersMax, type Writers } from "./postgres-writers.ts";
import { stopping } from "./unavailable.ts";

/** How often a transaction that collides with others is run, and the pause before it runs again (doubled each time, a random part of it). */
const triesMax = 6;
const pauseMs = 10;

type Engine = { readers: Readers; writers: Writers; running: Set<Promise<unknown>>; closed: boolean };

/**
 * The engine for many nodes: PostgreSQL through `pg`. It connects at the first query, and opens a lost connection again when it
 * next needs it. A body runs in its own transaction at READ COMMITTED, so it locks the rows that it decides by. It runs again
 * if it collides with another transaction (serialization failure, deadlock) or asks to start over.
 *
 * Accounts share the connections (`jobs/fair-share.ts`): busy or waiting transactions of one account delay no other account.
 *
 * If the server does not answer, calls raise the `unavailable` problem: at once if it refuses connections, at the latest after
 * the time that connecting and one statement may take.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param onError called when a connection breaks that nobody waits for
 */
export function openPostgres(url: string, { onError }: { onError: (error: unknown) => void }): Database {
  const engine: Engine = { readers: openReaders(url, onError), writers: openWriters(url, onError), running: new Set(), closed: false };
  return handleOf(engine, undefined);
}

/** The database for the work of one account, or of none. */
function handleOf(engine: Engine, account: number | undefined): Database {
  return {
    engine: "postgres",
    query: (text) => query(engine, account, text),
    write: (body, options) => write(engine, account, body, options),
    forAccount: (accountId) => handleOf(engine, accountId),
    load: () => loadOf(engine),
    close: () => close(engine),
  };
}

async function query<R>({ closed, readers }: Engine, account: number | undefined, text: Sql): Promise<R[]> {
  if (closed) throw stopping();
  try {
    return (await readers.read(statementOf(text), account)).rows as R[];
  } catch (error) {
    throw translate(error);
  }
}

type Body<T> = (tx: Transaction) => Promise<T>;

async function write<T>(engine: Engine, account: number | undefined, body: Body<T>, options: WriteOptions = {}): Promise<T> {
  if (engine.closed) throw stopping();
  const result = runUntilCommitted(engine, account, body, options);
  engine.running.add(result);
  try {
    return await result;
  } finally {
    engine.running.delete(result);
  }
}

async function runUntilCommitted<T>({ writers }: Engine, account: number | undefined, body: Body<T>, options: WriteOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { client, giveBack } = await writers.take(account);
    const outcome = await transact(client, body, options);
    giveBack(outcome.isBroken);
    if (outcome.isCommitted) return outcome.value;
    if (!outcome.collided || attempt === triesMax) throw outcome.error;
    await sleep(pauseMs * 2 ** attempt * Math.random());
  }
}

function loadOf({ readers, writers, running }: Engine): DatabaseLoad {
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

async function close(engine: Engine): Promise<void> {
  engine.closed = true;
  await Promise.allSettled(engine.running);
  await Promise.all([engine.readers.close(), engine.writers.close()]);
}
