import { dayMs, hourMs, minuteMs, type Clock, type Timer } from "./clock.ts";

/** Clocks that differ by more (ms) are not of the same time. A time server corrects less in one step. */
const offMsMax = minuteMs;
/** A clock before this is wrong: a machine without a battery begins in 1970. */
const leastTime = Date.UTC(2026, 0, 1);
/** After a longer time (ms) without a write, the clock at a start is doubted. */
const quietMsMax = 7 * dayMs;

/** What the clock is compared with. */
export type ClockSources = {
  clock: Clock;
  /** A monotonic clock. */
  timer: Timer;
  /** How long (ms) the machine has run, including the time in which it slept: `timer` leaves that out. */
  uptime: Timer;
  /** When the database was last written; undefined if it does not matter. */
  lastWrittenAt?: number | undefined;
};

/** Time of the database that nodes share; `unknown` if it did not answer; undefined if only this process uses it. */
export type DatabaseTime = number | "unknown" | undefined;

export type SteadyClock = {
  /**
   * The system's clock, unless it has jumped against the monotonic one: then the time that it would show without the jump. So nothing expires
   * because of a jump.
   */
  now: Clock;
  /** Compares the clocks. Called once a second. */
  check(database: DatabaseTime): void;
  /** Why this node deletes nothing by time; undefined if it may. */
  trouble(): string | undefined;
};

type State = ClockSources & {
  /** The time is `timer` plus this. */
  offset: number;
  /** How much longer than by `timer` the machine has run. */
  asleepMs: number;
  /** The database's time is `timer` plus this, as far as it did not jump; undefined before its first answer. */
  databaseOffset: number | undefined;
  /** Another time that is in doubt: `timer` plus `offset`. It counts once it has lasted for `forMs` since `since` (by `timer`). */
  doubted: { offset: number; since: number; forMs: number; reason: string } | undefined;
  trouble: string | undefined;
};

/**
 * Opens the one clock of a process. People and time servers set the system's clock, and a wrong one would expire sessions, bans and answers and
 * delete events of all accounts. A jump by over a minute is doubted for as long as it was, at most for a day: so an operator can correct it, and a
 * right correction counts in the end. It counts at once if the database's clock, which has not jumped itself, says so, if the machine slept meanwhile, or
 * if the time before was before 2026.
 */
export function openSteadyClock(sources: ClockSources): SteadyClock {
  const { clock, timer, uptime, lastWrittenAt } = sources;
  const [now, passed] = [clock(), timer()];
  const state: State = {
    ...sources,
    offset: now - passed,
    asleepMs: uptime() - passed,
    databaseOffset: undefined,
    doubted: undefined,
    trouble: undefined,
  };
  const quietMs = now - (lastWrittenAt ?? now);
  if (quietMs > quietMsMax) {
    const reason = `the clock is ${lengthOf(quietMs)} ahead of the last write of the database`;
    state.doubted = { offset: state.offset, since: passed, forMs: Math.min(quietMs, dayMs), reason };
    state.trouble = reason;
  }
  return { now: () => timeOf(state), check: (database) => check(state, database), trouble: () => state.trouble };
}

function timeOf(state: State): number {
  const [set, passed] = [state.clock(), state.timer()];
  const steady = passed + state.offset;
  if (Math.abs(set - steady) > offMsMax) return steady;
  state.offset = set - passed; // follows small corrections
  return set;
}

function check(state: State, database: DatabaseTime): void {
  followSleep(state);
  const [now, set, passed] = [timeOf(state), state.clock(), state.timer()];
  const reference = database === "unknown" ? now : (database ?? set);
  const offset = reference - passed;
  const aheadMs = reference - now;
  // A database that jumped is no witness: it may have its clock from the same machine.
  const isWitness = typeof database === "number" && Math.abs(offset - (state.databaseOffset ?? offset)) <= offMsMax;
  if (isWitness || (typeof database === "number" && Math.abs(aheadMs) <= offMsMax)) state.databaseOffset = offset;
  if (Math.abs(aheadMs) > offMsMax) {
    if (isWitness || (now < leastTime && aheadMs > 0)) return accept(state, offset, set);
    return doubt(state, offset, aheadMs, database === undefined ? "the clock" : "the clock of PostgreSQL");
  }
  if (state.doubted && Math.abs(state.doubted.offset - state.offset) > offMsMax) state.doubted = undefined;
  if (state.doubted && passed - state.doubted.since >= state.doubted.forMs) state.doubted = undefined;
  state.trouble = state.doubted?.reason ?? differenceOf(set - now);
}

/** A machine that slept has not jumped. */
function followSleep(state: State): void {
  const asleepMs = state.uptime() - state.timer();
  const more = Math.round(asleepMs - state.asleepMs);
  state.asleepMs = asleepMs;
  if (more <= offMsMax) return; // less is followed as a small correction
  state.offset += more;
  if (state.databaseOffset !== undefined) state.databaseOffset += more;
  if (state.doubted) state.doubted.offset += more;
}

function doubt(state: State, offset: number, aheadMs: number, whose: string): void {
  const passed = state.timer();
  if (state.doubted === undefined || Math.abs(state.doubted.offset - offset) > offMsMax) {
    const reason = `${whose} jumped ${lengthOf(aheadMs)} ${aheadMs > 0 ? "ahead" : "back"}`;
    const { since = passed, forMs = 0 } = state.doubted ?? {};
    state.doubted = { offset, since: passed, forMs: Math.max(Math.min(Math.abs(aheadMs), dayMs), since + forMs - passed), reason };
  }
  state.trouble = state.doubted.reason;
  if (passed - state.doubted.since >= state.doubted.forMs) accept(state, offset, state.clock());
}

function accept(state: State, offset: number, set: number): void {
  state.offset = offset;
  state.doubted = undefined;
  state.trouble = differenceOf(set - (state.timer() + offset));
}

/** What is wrong with the system's clock, if the time is known from elsewhere. */
function differenceOf(aheadMs: number): string | undefined {
  if (Math.abs(aheadMs) <= offMsMax) return undefined;
  return `the clock is ${lengthOf(aheadMs)} ${aheadMs > 0 ? "ahead of" : "behind"} that of the database`;
}

function lengthOf(ms: number): string {
  const length = Math.abs(ms);
  if (length >= 2 * dayMs) return `${(length / dayMs).toFixed(1)} days`;
  return length >= 2 * hourMs ? `${(length / hourMs).toFixed(1)} hours` : `${Math.round(length / minuteMs)} minutes`;
}
