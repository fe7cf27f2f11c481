import type { Refusal } from "../jobs/fair-share.ts";
import type { Awaitable, CallerKey, Together, Transaction, WriteOptions } from "./database.ts";
import { noConnection } from "./unavailable.ts";

/** How many groups of one kind and account run at the same time, and the most writes of a group. */
const groupsAtOnce = 2;
const groupMax = 100;
/** The most writes that wait for their group, and how long (ms). */
const waitingMax = 2_000;
const waitMs = 5_000;

type Account = CallerKey | undefined;
type Body = (tx: Transaction) => Awaitable<unknown>;
type Run = Together<unknown>["run"];

type Job = {
  body: Body;
  input: unknown;
  options: WriteOptions;
  resolve: (value: unknown) => void;
  refuse: (refusal: Refusal) => void;
  reject: (error: unknown) => void;
  timer: NodeJS.Timeout;
};

/** The writes of one kind and account. */
type Queue = { run: Run; account: Account; waiting: Job[]; running: number; isGathering: boolean };

type Groups = { queues: Map<Run, Map<Account, Queue>>; waiting: number; refused: number; write: Write };

export type WriteGroups = {
  /** Runs a write with others of its kind. Rejects as if the write had run alone. */
  write<T>(account: Account, body: (tx: Transaction) => Awaitable<T>, together: Together<T>, options: WriteOptions): Promise<T>;
  /** How many writes wait for their group, and how many were refused since the start. */
  load(): { waiting: number; refused: number };
};

/** Runs a body alone in a transaction. */
type Write = (account: Account, body: Body, options: WriteOptions) => Promise<unknown>;

/**
 * Runs writes of one kind and account together: those of one turn of the event loop, and those that arrive while earlier groups run. A group is
 * one transaction, which waits for the disk once. A write that the group leaves out then runs alone, and so does every write of a group that fails
 * before its commit. If too many wait, the newest write of the longest queue is refused.
 */
export function openGroups(write: Write): WriteGroups {
  const groups: Groups = { queues: new Map(), waiting: 0, refused: 0, write };
  return {
    load: () => groups,
    write: (account, body, { run, input }, options) =>
      new Promise((resolve, reject) => {
        const refuse = (refusal: Refusal): void => {
          groups.refused += 1;
          reject(noConnection(refusal));
        };
        const queue = queueOf(groups, run, account);
        if (groups.waiting >= waitingMax && !makeRoom(groups, queue)) return refuse("queue full");
        const timer = setTimeout(() => {
          leave(groups, queue, job);
          refuse("waited too long");
        }, waitMs);
        const job: Job = { body, input, options, resolve: resolve as Job["resolve"], refuse, reject, timer };
        queue.waiting.push(job);
        groups.waiting += 1;
        gather(groups, queue);
      }),
  };
}

/** Refuses the newest write of the longest queue; returns false if that is the queue of the newcomer. */
function makeRoom(groups: Groups, newcomers: Queue): boolean {
  let longest = newcomers;
  for (const ofKind of groups.queues.values())
    for (const queue of ofKind.values()) if (queue.waiting.length > longest.waiting.length) longest = queue;
  const newest = longest === newcomers ? undefined : longest.waiting.at(-1);
  if (!newest) return false;
  leave(groups, longest, newest);
  newest.refuse("queue full");
  return true;
}

function leave(groups: Groups, { waiting }: Queue, job: Job): void {
  clearTimeout(job.timer);
  waiting.splice(waiting.indexOf(job), 1);
  groups.waiting -= 1;
}

function queueOf({ queues }: Groups, run: Run, account: Account): Queue {
  let ofKind = queues.get(run);
  if (!ofKind) queues.set(run, (ofKind = new Map<Account, Queue>()));
  let queue = ofKind.get(account);
  if (!queue) ofKind.set(account, (queue = { run, account, waiting: [], running: 0, isGathering: false }));
  return queue;
}

/** Starts the next groups after this turn of the event loop. */
function gather(groups: Groups, queue: Queue): void {
  if (queue.isGathering || queue.running >= groupsAtOnce) return;
  queue.isGathering = true;
  setImmediate(() => {
    queue.isGathering = false;
    startNext(groups, queue);
  });
}

function startNext(groups: Groups, queue: Queue): void {
  const { run, account, waiting } = queue;
  while (waiting.length > 0 && queue.running < groupsAtOnce) {
    const group = waiting.splice(0, groupMax);
    groups.waiting -= group.length;
    for (const { timer } of group) clearTimeout(timer);
    queue.running += 1;
    void runGroup(groups, queue, group);
  }
  if (waiting.length === 0 && queue.running === 0) groups.queues.get(run)?.delete(account);
}

/** Never rejects. */
async function runGroup(groups: Groups, queue: Queue, group: Job[]): Promise<void> {
  await writeGroup(groups, queue, group);
  queue.running -= 1;
  gather(groups, queue);
}

/** Never rejects. */
async function writeGroup(groups: Groups, { run, account }: Queue, group: Job[]): Promise<void> {
  const alone = (job: Job): Promise<void> => groups.write(account, job.body, job.options).then(job.resolve, job.reject);
  const [first] = group as [Job];
  if (group.length === 1) return alone(first);
  const inputs = group.map(({ input }) => input as never);
  let mayHaveCommitted = false;
  const together: Body = async (tx) => {
    mayHaveCommitted = false;
    const outcomes = await run(tx, inputs);
    mayHaveCommitted = true;
    return outcomes;
  };
  try {
    const outcomes = (await groups.write(account, together, first.options)) as unknown[];
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
