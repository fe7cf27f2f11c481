import { setTimeout as sleep } from "node:timers/promises";
import type { Awaitable, CallerKey, Database, DatabaseLoad, Transaction, WriteOptions } from "./database.ts";
import { systemClock, type Clock } from "../clock.ts";
import { systemOrigin, type Origin } from "../events.ts";
import { translate } from "./postgres-errors.ts";
import { openGroups, type WriteGroups } from "./postgres-groups.ts";
import { openReaders, type Readers } from "./postgres-readers.ts";
import { fixedStatementOf, statementOf, type Statement } from "./postgres-statements.ts";
import { transact } from "./postgres-transactions.ts";
import { openWriters, writersMax, type Writers } from "./postgres-writers.ts";
import { stopping } from "./unavailable.ts";

/** How often a transaction that collides with others is run, and the pause before it runs again (doubled each time, a random part of it). */
const triesMax = 6;
const pauseMs = 10;

type PostgresOptions = {
  /** Called when a connection breaks while nothing waits for it. */
  onError: (error: unknown) => void;
  /** The time of events whose origin has none. Default: the system's clock. */
  clock?: Clock | undefined;
  /** Called after each commit that recorded events, which still wait for their positions. */
  onEvents?: ((accountIds: readonly number[]) => void) | undefined;
};

type Engine = {
  readers: Readers;
  writers: Writers;
  clock: Clock;
  onEvents: (accountIds: readonly number[]) => void;
  running: Set<Promise<unknown>>;
  groups: WriteGroups;
  closed: boolean;
};

/** The account whose share of the connections a handle uses, and the origin of its events. */
type Own = { account: CallerKey | undefined; origin: Origin };

/**
 * The engine for many nodes: PostgreSQL through `pg`. It connects at the first query, and opens a lost connection again when it
 * next needs it. A body runs in its own transaction at READ COMMITTED, so it locks the rows that its decisions depend on. It runs again
 * if it collides with another transaction (serialization failure, deadlock) or asks to start over.
 *
 * Accounts share the connections (`jobs/fair-share.ts`): busy or waiting transactions of one account delay no other account.
 *
 * If the server does not answer, calls raise the `unavailable` problem: at once if it refuses connections, at the latest after
 * the time that connecting and one statement may take.
 *
 * @param url `postgres://user:password@host:port/database`
 */
export function openPostgres(url: string, { onError, clock = systemClock, onEvents = () => undefined }: PostgresOptions): Database {
  const connections = { readers: openReaders(url, onError), writers: openWriters(url, onError) };
  const groups = openGroups((account, body, options) => runUntilCommitted(engine, account, body, options));
  const engine: Engine = { ...connections, clock, onEvents, running: new Set(), groups, closed: false };
  return handleOf(engine, { account: undefined, origin: systemOrigin });
}

function handleOf(engine: Engine, own: Own): Database {
  const { account, origin } = own;
  return {
    engine: "postgres",
    query: (text) => query(engine, account, () => statementOf(text)),
    rows: (statement, values) => query(engine, account, () => fixedStatementOf(statement, values)),
    async find(statement, key) {
      const [row] = await query<never>(engine, account, () => fixedStatementOf(statement, key));
      return row && statement.show(row);
    },
    async findAll(statement, _accountId, listing) {
      const { statement: list, values } = listing.rows();
      const rows = await query<never>(engine, account, () => fixedStatementOf(list, values));
      return rows.map((row) => statement.show(row));
    },
    write: (body, options) => write(engine, account, body, { origin, ...options }),
    scan: async (read) => read(),
    forAccount: (accountId) => handleOf(engine, { ...own, account: accountId }),
    forAddress: (address) => handleOf(engine, { ...own, account: address }),
    actingAs: (other) => handleOf(engine, { ...own, origin: other }),
    giveBackSpace: async () => false, // autovacuum reuses free space
    load: () => loadOf(engine),
    close: () => close(engine),
  };
}

async function query<R>({ closed, readers }: Engine, account: CallerKey | undefined, statement: () => Statement): Promise<R[]> {
  if (closed) throw stopping();
  try {
    return (await readers.read(statement(), account)).rows as R[];
  } catch (error) {
    throw translate(error);
  }
}

type Body<T> = (tx: Transaction) => Awaitable<T>;

async function write<T>(engine: Engine, account: CallerKey | undefined, body: Body<T>, options: WriteOptions<T> = {}): Promise<T> {
  if (engine.closed) throw stopping();
  const { together } = options;
  const result = together ? engine.groups.write(account, body, together, options) : runUntilCommitted(engine, account, body, options);
  engine.running.add(result);
  try {
    return await result;
  } finally {
    engine.running.delete(result);
  }
}

async function runUntilCommitted<T>(
  { writers, clock, onEvents }: Engine,
  account: CallerKey | undefined,
  body: Body<T>,
  options: WriteOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { client, giveBack } = await writers.take(account);
    const outcome = await transact(client, body, options, clock);
    giveBack(outcome.isBroken);
    if (outcome.isCommitted) {
      if (outcome.accountIds.length > 0) onEvents(outcome.accountIds);
      return outcome.value;
    }
    if (!outcome.collided || attempt === triesMax) throw outcome.error;
    await sleep(pauseMs * 2 ** attempt * Math.random());
  }
}

function loadOf(engine: Engine): DatabaseLoad {
  const [reads, writes, grouped] = [engine.readers.load(), engine.writers.load(), engine.groups.load()];
  return {
    reads: reads.inUse + reads.waiting,
    writes: engine.running.size,
    pool: {
      connections: writes.inUse,
      connectionsMax: writersMax,
      waiting: { reads: reads.waiting, writes: writes.waiting + grouped.waiting },
      refused: { reads: reads.refused, writes: writes.refused + grouped.refused },
      waits: { reads: engine.readers.waits, writes: engine.writers.waits },
    },
  };
}

async function close(engine: Engine): Promise<void> {
  engine.closed = true;
  await Promise.allSettled(engine.running);
  await Promise.all([engine.readers.close(), engine.writers.close()]);
}
