import { addWaiting, admitAlong, admitNext, vacate, type FairShare, type Refusal } from "../jobs/fair-share.ts";
import { createTally, type Tally } from "../jobs/tally.ts";
import type { Awaitable, CallerKey, Together, Transaction, WriteOptions } from "./database.ts";
import { clientGone } from "./turns.ts";

/** While so many groups of one kind and caller run, further writes of theirs wait for more to join. The most writes of a group. */
const groupsAtOnce = 2;
const groupMax = 100;

type Caller = CallerKey | undefined;
type Body = (tx: Transaction) => Awaitable<unknown>;
type Run = Together<unknown>["run"];

type Job = {
  caller: Caller;
  body: Body;
  together: Together<unknown>;
  options: WriteOptions;
  isGone: () => boolean;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
};

/** A write, and who waits for it. */
type Given = Pick<Job, "caller" | "isGone">;

/**
 * Runs a body in a transaction.
 *
 * @param place whether the caller has a place among the connections already, which the function gives back
 */
type Write = (caller: Caller, body: Body, options: WriteOptions, place: { isHeld: boolean }) => Promise<unknown>;

type Groups = {
  places: FairShare<CallerKey>;
  write: Write;
  /** How many groups run, by kind and caller. */
  running: Map<Run, Tally<Caller>>;
  /** The jobs that the scheduler has just admitted with one place. */
  admitted: Job[];
  isGathering: boolean;
};

/** Runs a write with others of its kind and caller. Rejects as if the write had run alone. */
export type WriteTogether = <T>(
  of: Given,
  body: (tx: Transaction) => Awaitable<T>,
  together: Together<T>,
  options: WriteOptions,
) => Promise<T>;

/**
 * Runs writes of one kind and caller together: those of one turn of the event loop, and those that arrive while earlier groups run. Each waits
 * among all writes for its turn, and then takes the others along. A group is one transaction, which waits for the disk once. A write that the
 * group leaves out then runs alone, and so does every write of a group that fails before its commit.
 */
export function openGroups(places: FairShare<CallerKey>, write: Write): WriteTogether {
  const groups: Groups = { places, write, running: new Map(), admitted: [], isGathering: false };
  return ({ caller, isGone }, body, together, options) =>
    new Promise((resolve, reject) => {
      const job: Job = { caller, body, together, options, isGone, resolve: resolve as Job["resolve"], reject };
      const settle = (late: Refusal | undefined): void => (late === undefined ? admit(groups, job) : reject(places.refusal(late)));
      const full = addWaiting(places, caller, settle, together.run);
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
  if (admitted.push(job) > 1) return;
  admitAlong(places, job.caller, job.together.run, groupMax - 1);
  const group = admitted.splice(0);
  const wanted: Job[] = [];
  for (const one of group) {
    if (one.isGone()) one.reject(clientGone());
    else wanted.push(one);
  }
  if (wanted.length > 0) return void runGroup(groups, wanted);
  vacate(places, job.caller, 0);
  gather(groups);
}

/** Never rejects. */
async function runGroup(groups: Groups, group: Job[]): Promise<void> {
  const [{ caller, together }] = group as [Job];
  const running = runningOf(groups, group[0]!);
  running.add(caller);
  await writeGroup(groups, group);
  running.take(caller);
  if (running.counts.size === 0) groups.running.delete(together.run);
  if (groups.places.queues.has(caller)) gather(groups); // those that came after the group gave its place back
}

function runningOf({ running }: Groups, { together: { run } }: Job): Tally<Caller> {
  let tally = running.get(run);
  if (!tally) running.set(run, (tally = createTally<Caller>()));
  return tally;
}

/** Never rejects. */
async function writeGroup({ write }: Groups, group: Job[]): Promise<void> {
  const [first] = group as [Job];
  const { caller, together, options } = first;
  const alone = (job: Job, place = { isHeld: false }): Promise<void> =>
    write(caller, job.body, job.options, place).then(job.resolve, job.reject);
  if (group.length === 1) return alone(first, { isHeld: true });
  const inputs = group.map((job) => job.together.input as never);
  let mayHaveCommitted = false;
  const runAll: Body = async (tx) => {
    mayHaveCommitted = false;
    const outcomes = await together.run(tx, inputs);
    mayHaveCommitted = true;
    return outcomes;
  };
  try {
    const outcomes = (await write(caller, runAll, options, { isHeld: true })) as unknown[];
    for (const [i, job] of group.entries()) {
      if (outcomes[i] === undefined) void alone(job);
      else job.resolve(outcomes[i]);
    }
  } catch (error) {
    for (const job of group) {
      if (mayHaveCommitted) job.reject(error);
      else void alone(job);
    }
  }
}
