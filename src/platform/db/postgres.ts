import { setTimeout as sleep } from "node:timers/promises";
import { openBounds } from "../bounds.ts";
import { systemClock, type Clock } from "../clock.ts";
import { systemWorkTimer, type WorkTimer } from "../event-loop.ts";
import type { FairShare } from "../jobs/fair-share.ts";
import { queues } from "../queues.ts";
import {
  clientGone,
  directly,
  othersWait,
  stopping,
  systemHandle,
  tookTooLong,
  unavailable,
  type Around,
  type Awaitable,
  type CallerKey,
  type Database,
  type DatabaseLoad,
  type Handle,
  type Transaction,
  type WriteOptions,
} from "./database.ts";
import { fixedStatementOf, statementOf, type SessionCheck, type Statement } from "./postgres-connections.ts";
import { isFullDisk, translate, unwritableErrorOf } from "./postgres-errors.ts";
import { openReaders, type Readers } from "./postgres-readers.ts";
import { transact } from "./postgres-transactions.ts";
import { openGroups, openWriters, writersMax, type WriteInGroup, type Writers } from "./postgres-writers.ts";
import { watchLock } from "./sqlite-files.ts";
import type { SqliteOptions } from "./sqlite.ts";

/** How often a transaction that collides with others is run, and the pause before it runs again (doubled each time, a random part of it). */
const triesMax = 6;
const pauseMs = 10;
/** How long (ms) the body of a caller may take while another caller waits. */
const bodyMs = queues.connections_writes.turnMs;
/** The pause (ms) between two tries while the server has no room. */
const fullMs = 500;

type Engine = {
  readers: Readers;
  writers: Writers;
  clock: Clock;
  onEvents: (accountIds: readonly number[]) => void;
  onFault: NonNullable<SqliteOptions["onFault"]>;
  timer: WorkTimer;
  running: Set<Promise<unknown>>;
  writeInGroup: WriteInGroup;
  /** When (by `timer`) the engine tries the next write, while the server's disk is full; otherwise undefined. */
  triesAt: number | undefined;
  /** Throws if the lock of the folder is no longer in its place. */
  requireLock: () => void;
  /** What that threw: from then on all writes are refused. */
  lost: unknown;
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
 * the time that connecting and one statement may take. While its disk is full, the engine tries one write every half a second and refuses all others
 * at once, because they would only wait for each other to fail.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param options.onError called when a connection breaks while nothing waits for it
 * @param options.onEvents called after each commit that recorded events, which still wait for their positions
 * @param options.checkWriter checks the database of each new connection for writes, before anything is written on it
 * @param options.onFault called when the server cannot store a write, for example because its disk is full, and when the lock of the folder is lost
 * @param options.lock path of the lock that this process has on its folder: when it is lost, the engine takes no writes
 */
export function openPostgres(
  url: string,
  options: Pick<SqliteOptions, "clock" | "bounds" | "timer" | "onEvents" | "onFault" | "lock"> & {
    onError: (error: unknown) => void;
    checkWriter?: SessionCheck | undefined;
  },
): Database {
  const {
    onError,
    clock = systemClock,
    onEvents = () => undefined,
    onFault = () => undefined,
    bounds = openBounds(),
    timer = systemWorkTimer,
  } = options;
  const connections = { readers: openReaders(url, bounds, onError), writers: openWriters(url, bounds, onError, options.checkWriter) };
  const writeInGroup = openGroups(connections.writers, (handle, body) => runUntilCommitted(engine, handle, body));
  const engine: Engine = {
    ...connections,
    clock,
    timer,
    onEvents,
    onFault,
    running: new Set(),
    writeInGroup,
    triesAt: undefined,
    requireLock: options.lock === undefined ? () => undefined : watchLock(options.lock),
    lost: undefined,
    closed: false,
  };
  return handleOf(engine, systemHandle, directly);
}

function handleOf(engine: Engine, handle: Handle, around: Around): Database {
  const read = <R>(statement: () => Statement): Awaitable<R[]> => around("SELECT", () => query<R>(engine, handle.caller, statement));
  return {
    engine: "postgres",
    query: async (text) => read(() => statementOf(text)),
    rows: (statement, values) => read(() => fixedStatementOf(statement, values)),
    write: async (body, options) =>
      around("transaction", () =>
        track(engine, async () => {
          await engine.writers.awaitPlace(handle.caller);
          return runUntilCommitted(engine, handle, body, options);
        }),
      ),
    batch: async (write, input, other) =>
      around("transaction", () => track(engine, () => engine.writeInGroup({ ...handle, ...other }, write, input))),
    scan: async (work) => work(),
    as: (other) => handleOf(engine, { ...handle, ...other }, around),
    around: (outer) => handleOf(engine, handle, (operation, work) => outer(operation, () => around(operation, work))),
    giveBackSpace: async () => false, // autovacuum reuses free space
    checkFiles: () => checkLock(engine),
    reportDamage: (what) => unavailable(new Error(what)),
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

/** Runs a write, for which `close` waits. */
async function track<T>(engine: Engine, write: () => Promise<T>): Promise<T> {
  if (engine.closed) throw stopping();
  if (engine.lost !== undefined) throw unavailable(engine.lost);
  const running = write();
  engine.running.add(running);
  try {
    return await running;
  } finally {
    engine.running.delete(running);
  }
}

/** Refuses writes once another process may use the folder, and so write as this node. */
function checkLock(engine: Engine): void {
  try {
    if (engine.lost === undefined) engine.requireLock();
  } catch (error) {
    engine.lost = error;
    engine.onFault("lost", error);
  }
}

/** Refuses a write while the server's disk is full, but for one every half a second, which finds out whether it still is. */
function fullDiskRefusal(engine: Engine): Error | undefined {
  if (engine.triesAt === undefined) return undefined;
  const now = engine.timer.now();
  if (now < engine.triesAt) return unavailable();
  engine.triesAt = now + fullMs;
  return undefined;
}

/**
 * Notes what a write showed about the server's disk. One that stored nothing for a reason of its own lets the next one try at once: otherwise a caller
 * whose writes are all refused would use up every try, and the node would refuse the others after there is room again.
 */
function noteRoom(engine: Engine, found: "full" | "stored" | "unknown"): void {
  if (found === "full") engine.triesAt = engine.timer.now() + fullMs;
  else if (found === "stored") engine.triesAt = undefined;
  else if (engine.triesAt !== undefined) engine.triesAt = engine.timer.now();
}

/** Runs a body in transactions until one is committed. Its caller holds a place among the connections, which this gives back. */
async function runUntilCommitted<T>(
  engine: Engine,
  { caller, origin, isGone }: Handle,
  body: (tx: Transaction) => Awaitable<T>,
  options: WriteOptions = {},
): Promise<T> {
  const { writers, clock, timer, onEvents } = engine;
  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) await writers.awaitPlace(caller);
    const { client, giveBack } = await writers.connect(caller);
    const refusal = attempt > 1 ? undefined : isGone() ? clientGone() : fullDiskRefusal(engine);
    if (refusal) {
      giveBack(false);
      throw refusal;
    }
    const outcome = await transact(client, body, { ...options, origin, clock }, boundOn(caller, writers.places, timer));
    giveBack(outcome.isBroken);
    const unwritable = outcome.isCommitted ? undefined : unwritableErrorOf(outcome.error);
    noteRoom(engine, isFullDisk(unwritable) ? "full" : outcome.isCommitted && !options.isDryRun ? "stored" : "unknown");
    if (outcome.isCommitted) {
      if (outcome.accountIds.length > 0) onEvents(outcome.accountIds);
      return outcome.value;
    }
    if (unwritable) engine.onFault("unwritable", unwritable);
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
