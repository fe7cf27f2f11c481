import { createTally } from "./tally.ts";

/**
 * A bounded number of places that accounts share so that none of them keeps the others out.
 *
 * - One account alone gets half of the accounts' places, each of two accounts a third, and so on, so that there is always a
 *   place left for an account that comes next.
 * - A number of places is reserved for work that belongs to no account. That work may also use the others, and goes first.
 * - Work that finds no place waits. Free places go to the waiting accounts in turn.
 * - When too much work waits, the newest work of the account with the most is refused.
 */
export type Places = {
  /**
   * Takes a place; returns undefined if one was free at once. The caller gives it back.
   *
   * @param account none: work that belongs to no account
   * @throws the error that `refusal` makes, if the queue is full or the wait takes too long
   */
  take(account: number | undefined): Promise<void> | undefined;
  giveBack(account: number | undefined): void;
  load: () => PlacesLoad;
};

export type PlacesLoad = { inUse: number; waiting: number; refused: number };

export type PlacesOptions = {
  max: number;
  /** How many of `max` the accounts do not get. */
  reserved: number;
  waitingMax: number;
  waitMs: number;
  refusal: (reason: string) => Error;
};

type Waiting = { admit: () => void; refuse: (error: Error) => void; timer: NodeJS.Timeout };
type Queue = Set<Waiting>;

const queueIsFull = "too many wait for a connection";

/** Opens places, all of them free. `waitMs` is the longest wait in ms. */
export function openPlaces({ max, reserved, waitingMax, waitMs, refusal }: PlacesOptions): Places {
  const forAccounts = max - reserved;
  const held = createTally<number>();
  /** The waiting work by account, in the order of their turns; the key undefined holds the work of no account. */
  const queues = new Map<number | undefined, Queue>();
  let inUse = 0;
  let inUseByAccounts = 0;
  let waiting = 0;
  let refused = 0;

  function isFree(account: number | undefined): boolean {
    if (inUse >= max) return false;
    if (account === undefined) return true;
    if (inUseByAccounts >= forAccounts) return false;
    const own = held.of(account);
    const accounts = held.counts.size + (own === 0 ? 1 : 0);
    return own < forAccounts / (accounts + 1);
  }

  function occupy(account: number | undefined): void {
    inUse++;
    if (account === undefined) return;
    inUseByAccounts++;
    held.add(account);
  }

  function take(account: number | undefined): Promise<void> | undefined {
    if (queues.has(account) || !isFree(account)) return wait(account);
    occupy(account);
    return undefined;
  }

  function giveBack(account: number | undefined): void {
    inUse--;
    if (account !== undefined) {
      inUseByAccounts--;
      held.take(account);
    }
    while (admitNext());
  }

  function admitNext(): boolean {
    if (waiting === 0 || inUse >= max) return false;
    const account = queues.has(undefined) ? undefined : nextAccount();
    const [first] = queues.get(account) ?? [];
    if (first === undefined) return false;
    leave(account, first);
    passTurn(account);
    occupy(account);
    first.admit();
    return true;
  }

  /** Skips accounts that already hold their share; these are at most as many as there are places. */
  function nextAccount(): number | undefined {
    for (const account of queues.keys()) if (isFree(account)) return account;
    return undefined;
  }

  function passTurn(account: number | undefined): void {
    const queue = queues.get(account);
    if (queue === undefined) return;
    queues.delete(account);
    queues.set(account, queue);
  }

  function wait(account: number | undefined): Promise<void> {
    if (waiting >= waitingMax && !makeRoom(account)) {
      refused++;
      return Promise.reject(refusal(queueIsFull));
    }
    return new Promise((admit, refuse) => {
      const timer = setTimeout(() => giveUp(account, one, "the wait for a connection took too long"), waitMs);
      const one: Waiting = { admit, refuse, timer };
      queues.set(account, (queues.get(account) ?? new Set()).add(one));
      waiting++;
    });
  }

  function leave(account: number | undefined, one: Waiting): void {
    clearTimeout(one.timer);
    const queue = queues.get(account);
    queue?.delete(one);
    if (queue?.size === 0) queues.delete(account);
    waiting--;
  }

  function giveUp(account: number | undefined, one: Waiting, reason: string): void {
    leave(account, one);
    refused++;
    one.refuse(refusal(reason));
  }

  /** Refuses the newest work of the account with the longest queue; false if that is the newcomer's own queue. */
  function makeRoom(newcomer: number | undefined): boolean {
    let longest: number | undefined;
    let length = newcomer === undefined ? 0 : (queues.get(newcomer)?.size ?? 0) + 1;
    for (const [account, { size }] of queues) if (account !== undefined && size > length) [longest, length] = [account, size];
    const last = longest === undefined ? undefined : [...(queues.get(longest) ?? [])].at(-1);
    if (last !== undefined) giveUp(longest, last, queueIsFull);
    return last !== undefined;
  }

  return { take, giveBack, load: () => ({ inUse, waiting, refused }) };
}
