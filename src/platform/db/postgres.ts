import { setTimeout as sleep } from "node:timers/promises";
import type { Awaitable, CallerKey, Database, DatabaseLoad, Transaction, WriteOptions } from "./database.ts";
import { systemClock, type Clock } from "../clock.ts";
import { systemOrigin } from "../events.ts";
import { openBounds, type Bounds } from "../bounds.ts";
import { queues } from "../queues.ts";
import { systemWorkTimer, type WorkTimer } from "../event-loop.ts";
import type { FairShare } from "../jobs/fair-share.ts";
import { translate } from "./postgres-errors.ts";
import { openGroups, type WriteTogether } from "./postgres-groups.ts";
import { openReaders, type Readers } from "./postgres-readers.ts";
import { fixedStatementOf, statementOf, type Statement } from "./postgres-statements.ts";
import { transact } from "./postgres-transactions.ts";
import { openWriters, writersMax, type Writers } from "./postgres-writers.ts";
import { clientGone, othersWait, stopping, tookTooLong, type Own } from "./turns.ts";

/** How often a transaction that collides with others is run, and the pause before it runs again (doubled each time, a random part of it). */
const triesMax = 6;
const pauseMs = 10;
/** How long (ms) the body of a caller may take while another caller waits. */
const bodyMs = queues.connections_writes.turnMs;

type PostgresOptions = {
  /** Called when a connection breaks while nothing waits for it. */
  onError: (error: unknown) => void;
  /** The time of events whose origin has none. Default: the system's clock. */
  clock?: Clock | undefined;
  /** Where the queues of reads and writes are opened, for their metrics. */
  bounds?: Pick<Bounds, "queue"> | undefined;
  /** Measures how long bodies take. Default: the system's clocks. */
  timer?: WorkTimer | undefined;
  /** Called after each commit that recorded events, which still wait for their positions. */
  onEvents?: ((accountIds: readonly number[]) => void) | undefined;
};

type Engine = {
  readers: Readers;
  writers: Writers;
  clock: Clock;
  onEvents: (accountIds: readonly number[]) => void;
  timer: WorkTimer;
  running: Set<Promise<unknown>>;
  together: WriteTogether;
  closed: boolean;
};

/**
 * The engine for many nodes: PostgreSQL through `pg`. It connects at the first query, and opens a lost connection again when it
 * next needs it. A body runs in its own transaction at READ COMMITTED, so it locks the rows that its decisions depend on. It runs again
 * if it collides with another transaction (serialization failure, deadlock) or asks to start over.
 *
 * Accounts share the connections and take turns for them (`jobs/fair-share.ts`): busy or waiting transactions of one account delay no other
 * account. A body that takes too long while another caller waits for a connection is rolled back at its next statement.
 *
 * If the server does not answer, calls raise the `unavailable` problem: at once if it refuses connections, at the latest after
 * the time that connecting and one statement may take.
 *
 * @param url `postgres://user:password@host:port/database`
 */
export function openPostgres(url: string, options: PostgresOptions): Database {
  const { onError, clock = systemClock, onEvents = () => undefined, bounds = openBounds(), timer = systemWorkTimer } = options;
  const connections = { readers: openReaders(url, bounds, onError), writers: openWriters(url, bounds, onError) };
  const together = openGroups(connections.writers.places, (caller, body, given, place) =>
    runUntilCommitted(engine, { caller, isGone: never }, body, given, place),
  );
  const engine: Engine = { ...connections, clock, timer, onEvents, running: new Set(), together, closed: false };
  return handleOf(engine, { caller: undefined, origin: systemOrigin, isGone: never });
}

const never = (): boolean => false;

function handleOf(engine: Engine, own: Own): Database {
  const { caller, origin } = own;
  return {
    engine: "postgres",
    query: (text) => query(engine, caller, () => statementOf(text)),
    rows: (statement, values) => query(engine, caller, () => fixedStatementOf(statement, values)),
    async find(statement, key) {
      const [row] = await query<never>(engine, caller, () => fixedStatementOf(statement, key));
      return row && statement.show(row);
    },
    async findAll(statement, _accountId, listing) {
      const { statement: list, values } = listing.rows();
      const rows = await query<never>(engine, caller, () => fixedStatementOf(list, values));
      return rows.map((row) => statement.show(row));
    },
    write: (body, options) => write(engine, own, body, { origin, ...options }),
    scan: async (read) => read(),
    forAccount: (accountId) => handleOf(engine, { ...own, caller: accountId }),
    forAddress: (address) => handleOf(engine, { ...own, caller: address }),
    actingAs: (other, isGone = own.isGone) => handleOf(engine, { ...own, origin: other, isGone }),
    giveBackSpace: async () => false, // autovacuum reuses free space
    load: () => loadOf(engine),
    close: () => close(engine),
  };
}

async function query<R>({ closed, readers }: Engine, caller: CallerKey | undefined, statement: () => Statement): Promise<R[]> {
  if (closed) throw stopping();
  try {
    return (await readers.read(statement(), caller)).rows as R[];
  } catch (error) {
    throw translate(error);
  }
}

type Body<T> = (tx: Transaction) => Awaitable<T>;

type Waiter = Pick<Own, "caller" | "isGone">;

async function write<T>(engine: Engine, own: Waiter, body: Body<T>, options: WriteOptions<T> = {}): Promise<T> {
  if (engine.closed) throw stopping();
  const { together } = options;
  const result = together ? engine.together(own, body, together, options) : runUntilCommitted(engine, own, body, options);
  engine.running.add(result);
  try {
    return await result;
  } finally {
    engine.running.delete(result);
  }
}

/** @param place whether the caller has a place among the connections already */
async function runUntilCommitted<T>(
  engine: Engine,
  { caller, isGone }: Waiter,
  body: Body<T>,
  options: WriteOptions,
  place = { isHeld: false },
): Promise<T> {
  const { writers, clock, timer, onEvents } = engine;
  for (let attempt = 1; ; attempt++) {
    const { client, giveBack } = await (place.isHeld && attempt === 1 ? writers.connect(caller) : writers.take(caller));
    if (attempt === 1 && isGone()) {
      giveBack(false);
      throw clientGone();
    }
    const outcome = await transact(client, body, options, { clock, refusal: boundOn(caller, writers.places, timer) });
    giveBack(outcome.isBroken);
    if (outcome.isCommitted) {
      if (outcome.accountIds.length > 0) onEvents(outcome.accountIds);
      return outcome.value;
    }
    if (!outcome.collided || attempt === triesMax) throw outcome.error;
    await sleep(pauseMs * 2 ** attempt * Math.random());
  }
}

/** Returns a function that returns the refusal of a caller's body that has taken too long while another caller waits. */
function boundOn(caller: CallerKey | undefined, places: FairShare<CallerKey>, { now }: WorkTimer): () => Error | undefined {
  const endsAt = now() + bodyMs;
  return () => (caller !== undefined && now() > endsAt && othersWait(places, caller) ? tookTooLong() : undefined);
}

function loadOf(engine: Engine): DatabaseLoad {
  const [reads, writes] = [engine.readers.load(), engine.writers.places];
  return {
    reads: reads.inUse + reads.waiting,
    writes: engine.running.size,
    pool: {
      connections: writes.inUse,
      connectionsMax: writersMax,
      waiting: { reads: reads.waiting, writes: writes.waiting },
      refused: { reads: reads.refused, writes: writes.refused },
      waits: { reads: engine.readers.waits, writes: engine.writers.waits },
    },
  };
}

async function close(engine: Engine): Promise<void> {
  engine.closed = true;
  await Promise.allSettled(engine.running);
  await Promise.all([engine.readers.close(), engine.writers.close()]);
}
