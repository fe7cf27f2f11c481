import type pg from "pg";
import type { Bounds } from "../bounds.ts";
import { acquireTimed, addWaiting, admitAlong, admitNext, release, vacate, type FairShare, type Refusal } from "../jobs/fair-share.ts";
import { createTally, type Tally } from "../jobs/tally.ts";
import { openHistogram, waitBounds, type Histogram } from "../metrics.ts";
import { queues } from "../queues.ts";
import { batchOfOne, clientGone, type Batch, type CallerKey, type Handle, type Transaction } from "./database.ts";
import { openConnection, type Connection, type SessionCheck } from "./postgres-connections.ts";

/** Connections for transactions, each of which runs one at a time. */
export const writersMax = queues.connections_writes.max;
const idleMs = 30_000;
const lifetimeMs = 1_800_000;

type Writer = { client: pg.Client; giveBack: (isBroken: boolean) => void };

export type Writers = {
  /** The places among the connections. */
  places: FairShare<CallerKey>;
  /** Waits for a place. Work that has one goes on with `connect`. @throws Problem `unavailable` if it gets none */
  awaitPlace(caller: CallerKey | undefined): Promise<void>;
  /**
   * Takes a connection for one transaction of a caller, which holds a place already. The caller gives it back, and the place with it.
   *
   * @throws Problem `unavailable`, after giving the place back
   */
  connect(caller: CallerKey | undefined): Promise<Writer>;
  /** How long (s) work waited for a place, if none was free. */
  waits: Histogram;
  close(): Promise<void>;
};

/** A connection that no transaction uses, since when (ms, monotonic). */
type Free = { connection: Connection; since: number; openedAt: number };

/** Opens connections for transactions as they are needed, and shares them between callers. */
export function openWriters(url: string, bounds: Pick<Bounds, "queue">, onError: (error: unknown) => void, check?: SessionCheck): Writers {
  const waits = openHistogram(waitBounds);
  const places = bounds.queue<CallerKey>("connections_writes");
  // the last is taken first, so that the others become idle
  const free = Array.from({ length: writersMax }, (): Free => ({
    connection: openConnection(url, onError, { check }),
    since: 0,
    openedAt: 0,
  }));
  const closing = setInterval(() => closeIdle(free), idleMs / 3).unref();

  async function connect(caller: CallerKey | undefined): Promise<Writer> {
    const begunAt = places.usage.now();
    const taken = free.pop()!; // a caller with a place finds one
    const { connection } = taken;
    const giveBack = (): void => {
      free.push({ ...taken, since: performance.now() });
      release(places, caller, places.usage.now() - begunAt);
    };
    try {
      if (connection.current() && performance.now() - taken.openedAt > lifetimeMs) await connection.close();
      if (!connection.current()) taken.openedAt = performance.now();
      const client = await connection.open();
      return {
        client,
        giveBack(isBroken) {
          if (isBroken) connection.drop(client);
          giveBack();
        },
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  return {
    places,
    waits,
    connect,
    async awaitPlace(caller) {
      const refusal = await acquireTimed(places, caller, (seconds) => waits.observe(seconds));
      if (refusal !== undefined) throw places.refusal(refusal);
    },
    async close() {
      clearInterval(closing);
      await Promise.all(free.map(({ connection }) => connection.close()));
    },
  };
}

function closeIdle(free: readonly Free[]): void {
  for (const { connection, since } of free) {
    if (connection.current() && performance.now() - since > idleMs) connection.close().catch(() => undefined);
  }
}

/** While so many groups of one kind and caller run, further writes of theirs wait for more to join. The most writes of a group. */
const groupsAtOnce = 2;
const groupMax = 100;

type Caller = CallerKey | undefined;
type Kind = Batch<object, unknown>;

type Job = {
  handle: Handle;
  write: Kind;
  input: object;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** Runs a body in a transaction. Its caller holds a place among the connections, which this gives back. */
type Run = <T>(handle: Handle, body: (tx: Transaction) => Promise<T>) => Promise<T>;

type Groups = Pick<Writers, "places" | "awaitPlace"> & {
  run: Run;
  /** How many groups run, by kind and caller. */
  running: Map<Kind, Tally<Caller>>;
  /** The jobs that the scheduler has just admitted with one place. */
  admitted: Job[];
  isGathering: boolean;
};

/** Writes an input with others of its kind and caller. Rejects as if it had been written alone. */
export type WriteInGroup = <Input extends object, Result>(handle: Handle, write: Batch<Input, Result>, input: Input) => Promise<Result>;

/**
 * Writes the inputs of one kind and caller in groups: those of one turn of the event loop, and those that arrive while earlier groups run. Each
 * waits among all writes for its turn, and then takes the others along. A group is one batch in one transaction, which waits for the disk once.
 * An input that the batch leaves out is then written alone, and so is every input of a group that fails before its commit.
 */
export function openGroups({ places, awaitPlace }: Pick<Writers, "places" | "awaitPlace">, run: Run): WriteInGroup {
  const groups: Groups = { places, awaitPlace, run, running: new Map(), admitted: [], isGathering: false };
  return (handle, write, input) =>
    new Promise((resolve, reject) => {
      const { caller } = handle;
      const job: Job = { handle, write, input, resolve: resolve as Job["resolve"], reject };
      const settle = (late: Refusal | undefined): void => (late === undefined ? admit(groups, job) : reject(places.refusal(late)));
      const full = addWaiting(places, caller, settle, write);
      if (full !== undefined) return reject(places.refusal(full));
      if (runningOf(groups, job).of(caller) < groupsAtOnce) gather(groups);
    });
}

/** Begins the next groups after this turn of the event loop, so that the writes of this turn are in them. */
function gather(groups: Groups): void {
  if (groups.isGathering) return;
  groups.isGathering = true;
  setImmediate(() => {
    groups.isGathering = false;
    while (admitNext(groups.places));
  });
}

/** Called when the scheduler gives a job a place. The jobs of its kind and caller that wait come along. */
function admit(groups: Groups, job: Job): void {
  const { places, admitted } = groups;
  const { caller } = job.handle;
  if (admitted.push(job) > 1) return;
  admitAlong(places, caller, job.write, groupMax - 1);
  const group = admitted.splice(0);
  const wanted: Job[] = [];
  for (const one of group) {
    if (one.handle.isGone()) one.reject(clientGone());
    else wanted.push(one);
  }
  if (wanted.length > 0) return void runGroup(groups, wanted);
  vacate(places, caller, 0);
  gather(groups);
}

/** Never rejects. */
async function runGroup(groups: Groups, group: Job[]): Promise<void> {
  const [{ handle, write }] = group as [Job];
  const running = runningOf(groups, group[0]!);
  running.add(handle.caller);
  await writeGroup(groups, group);
  running.take(handle.caller);
  if (running.counts.size === 0) groups.running.delete(write);
  if (groups.places.queues.has(handle.caller)) gather(groups); // those that came after the group gave its place back
}

function runningOf({ running }: Groups, { write }: Job): Tally<Caller> {
  let tally = running.get(write);
  if (!tally) running.set(write, (tally = createTally<Caller>()));
  return tally;
}

/** Never rejects. */
async function writeGroup(groups: Groups, group: Job[]): Promise<void> {
  const [first] = group as [Job];
  const { handle, write } = first;
  if (group.length === 1) return writeAlone(groups, first);
  const inputs = group.map(({ input }) => input);
  let mayHaveCommitted = false;
  try {
    const results = await groups.run({ ...handle, isGone: () => false }, async (tx) => {
      mayHaveCommitted = false;
      const written = await write(tx, inputs);
      mayHaveCommitted = true;
      return written;
    });
    for (const [i, job] of group.entries()) {
      if (results[i] === undefined) void writeLater(groups, job);
      else job.resolve(results[i]);
    }
  } catch (error) {
    for (const job of group) {
      if (mayHaveCommitted) job.reject(error);
      else void writeLater(groups, job);
    }
  }
}

/** Writes an input as a batch of one, which has a place already. Never rejects. */
function writeAlone({ run }: Groups, { handle, write, input, resolve, reject }: Job): Promise<void> {
  return run(handle, async (tx) => batchOfOne(write, input)(tx)).then(resolve, reject);
}

/** The same after waiting for a place. */
function writeLater(groups: Groups, job: Job): Promise<void> {
  return groups.awaitPlace(job.handle.caller).then(() => writeAlone(groups, job), job.reject);
}
