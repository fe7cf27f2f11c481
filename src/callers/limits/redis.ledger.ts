import type { Clock } from "../../platform/clock.ts";
import { type Entries, openEntries } from "./entries.ts";
import type { Asked } from "./redis.batch.ts";
import { prefix } from "./redis.script.ts";
import { dayMs, minuteMs } from "./windows.ts";

const accountsMax = 1_000_000;
const othersMax = 50_000;

/** One window of a meter, as this node knows it. */
type Part = {
  number: number;
  /** Requests used, as Redis last reported. */
  used: number;
  /** The outage that the next three fields belong to. */
  outage: number;
  /** Requests used when the outage began; 0 if the window began later. */
  usedBefore: number;
  /** Requests that this node has admitted since then. */
  admitted: number;
  /** The highest number of live nodes since then. */
  nodes: number;
  /** Requests that this node admitted and has not added in Redis yet. */
  owed: number;
};

type Known = { minute: Part; day: Part; countsDays: boolean };
/** The effect of a script that was sent and not answered, so that Redis may or may not have run it. */
type Doubtful = { run: number; owe: () => void };

/** An entry to add in Redis. `owe` takes it back if it did not arrive. */
type Owed = { args: (string | number)[]; meter: string; owe: () => void };

export type Ledger = {
  /** Records Redis' answer to a question, whose figures begin at `at`. */
  note(asked: Asked, answer: number[], at: number): void;
  /** Records an answer that Redis gave to another node. */
  hear(message: string): void;
  /**
   * Decides a request without Redis. The result has the form of the script's answer.
   *
   * @param run number of the script that the request was sent with, which may have counted it; 0 if it was not sent
   */
  decide(asked: Asked, run: number): number[];
  /** Gives a request back in the windows whose numbers are in `limits`; otherwise like `decide`. */
  giveBack(asked: Asked, run: number): number[];
  /** Whether this node's share has room. If so, uses up one request of the share; Redis is going to count it. */
  reserve(asked: Asked): boolean;
  /** The figures that this node knows, in the form of the script's answer; counts nothing. */
  look(asked: Asked): number[];
  /** Begins to count alone. */
  beginOutage(): void;
  /** Settles the scripts of the last connection that were not answered: Redis has run the first `ran` of that connection. */
  settle(ran: number): void;
  /** Returns the entries to add in Redis, and owes them no more. With `all`, also figures that Redis had before it lost its data. */
  takeOwed(all: boolean): Owed[];
  /** Records an unanswered script until `settle` decides whether Redis has run it. */
  doubt(doubtful: Doubtful): void;
  unban(ban: string): void;
  sweep(): void;
};

/**
 * What a node knows of the meters in Redis, so that it can decide without Redis. It admits its share of the requests
 * that were left when Redis was lost: their number divided by the live nodes, rounded down. In a window that begins
 * later, it admits its share of the whole quota. A node that leaves makes no share larger, because the highest number of
 * live nodes since the loss counts. The time is Redis': the node's clock plus the difference that the last answer
 * showed.
 */
export function openLedger({ clock, liveNodes }: { clock: Clock; liveNodes: () => number }): Ledger {
  const isOld = ({ day }: Known, now: number): boolean => Math.floor(now / dayMs) > day.number + 1;
  const accounts = openEntries<string, Known>(accountsMax, newKnown, isOld);
  const others = openEntries<string, Known>(othersMax, newKnown, isOld);
  const bans = openEntries<string, { until: number }>(
    othersMax,
    () => ({ until: 0 }),
    ({ until }, now) => until <= now,
  );
  let outage = 0;
  let nodesBefore = 1;
  let aheadMs = 0;
  let doubtful: Doubtful[] = [];
  let noted: number[] | undefined;
  let notedMinute = 0;
  let notedDay = 0;

  const time = (): number => clock() + aheadMs;
  const entriesOf = (meter: string): Entries<string, Known> => (meter.startsWith(`${prefix}account:`) ? accounts : others);

  function report(meter: string, minuteNumber: number, dayNumber: number, minuteUsed: number, dayUsed: number): void {
    const known = entriesOf(meter).at(meter);
    reportPart(known.minute, minuteNumber, minuteUsed);
    reportPart(known.day, dayNumber, dayUsed);
  }

  /** The room that this node's share has in each meter's two windows; answers show it as the remaining requests. */
  function shares({ meters, limits }: Asked, now: number) {
    return meters.map((meter, i) => {
      const known = entriesOf(meter).at(meter);
      const [perMinute = 0, perDay = 0] = limits.slice(2 * i);
      known.countsDays = perDay !== Infinity;
      return {
        known,
        minute: room(known.minute, Math.floor(now / minuteMs), perMinute),
        day: room(known.day, Math.floor(now / dayMs), perDay),
        perMinute,
        perDay,
      };
    });
  }

  function room(part: Part, number: number, limit: number): number {
    enter(part, number);
    if (part.outage !== outage) Object.assign(part, { outage, usedBefore: part.used, admitted: 0, nodes: nodesBefore });
    part.nodes = Math.max(part.nodes, liveNodes());
    return Math.max(0, Math.floor(Math.max(0, limit - part.usedBefore) / part.nodes) - part.admitted);
  }

  function admit({ minute, day }: Known): void {
    minute.admitted += 1;
    day.admitted += 1;
  }

  const hasRoom = (own: ReturnType<typeof shares>): boolean => own.every(({ minute, day }) => minute > 0 && day > 0);

  function banLeft(asked: Asked, now: number): number {
    const until = asked.ban === undefined ? undefined : bans.get(asked.ban)?.until;
    return until === undefined ? 0 : Math.max(0, until - now);
  }

  function look(asked: Asked): number[] {
    const now = time();
    const used = asked.meters.flatMap((meter) => {
      const { minute, day } = entriesOf(meter).at(meter);
      enter(minute, Math.floor(now / minuteMs));
      enter(day, Math.floor(now / dayMs));
      return [minute.used, day.used];
    });
    return [now, 0, banLeft(asked, now), 0, ...used];
  }

  return {
    note(asked, answer, at) {
      const now = answer[0]!;
      // Requests of one script share one answer, so this computes the windows once.
      if (answer !== noted) {
        noted = answer;
        aheadMs = now - clock();
        notedMinute = Math.floor(now / minuteMs);
        notedDay = Math.floor(now / dayMs);
      }
      let figure = at + 3;
      for (const meter of asked.meters) report(meter, notedMinute, notedDay, answer[figure++]!, answer[figure++]!);
      if (answer[at] === 2 && asked.ban !== undefined) bans.at(asked.ban).until = now + answer[at + 1]!;
    },
    hear(message) {
      const [head = "", ...lines] = message.split("\n");
      const [, minuteNumber, dayNumber] = head.split(" ");
      for (const line of lines) {
        const [meter = "", minuteUsed, dayUsed] = line.split(" ");
        report(meter, Number(minuteNumber), Number(dayNumber), Number(minuteUsed), Number(dayUsed));
      }
    },
    decide(asked, run) {
      const now = time();
      const leftMs = banLeft(asked, now);
      const own = shares(asked, now);
      const verdict = leftMs > 0 ? 2 : asked.counting && !hasRoom(own) ? 1 : 0;
      if (asked.counting && verdict === 0) {
        const parts = own.map(({ known }) => known);
        const owe = oweLater(parts);
        for (const known of parts) admit(known);
        for (const one of own) [one.minute, one.day] = [one.minute - 1, one.day - 1];
        if (run === 0) owe();
        else doubtful.push({ run, owe });
      }
      const used = own.flatMap(({ minute, day, perMinute, perDay }) => [perMinute - minute, perDay === Infinity ? 0 : perDay - day]);
      return [now, verdict, leftMs, 0, ...used];
    },
    giveBack(asked, run) {
      asked.meters.forEach((meter, i) => {
        const { minute, day } = entriesOf(meter).at(meter);
        for (const [part, number] of [
          [minute, asked.limits[2 * i]],
          [day, asked.limits[2 * i + 1]],
        ] as const) {
          if (part.number !== number) continue;
          if (part.admitted > 0) part.admitted -= 1;
          const owe = () => void (part.number === number && (part.owed -= 1));
          if (run === 0) owe();
          else doubtful.push({ run, owe });
        }
      });
      return look(asked);
    },
    reserve(asked) {
      const own = shares(asked, time());
      if (!hasRoom(own)) return false;
      for (const { known } of own) admit(known);
      return true;
    },
    look,
    beginOutage() {
      outage += 1;
      nodesBefore = liveNodes();
    },
    settle(ran) {
      const unsettled = doubtful;
      doubtful = [];
      for (const { run, owe } of unsettled) if (run > ran) owe();
    },
    takeOwed(all) {
      const owed: Owed[] = [];
      for (const entries of [accounts, others]) {
        for (const [meter, known] of entries) {
          if (all || known.minute.owed !== 0 || known.day.owed !== 0) owed.push(takeOne(meter, known));
        }
      }
      return owed;
    },
    doubt: (one) => void doubtful.push(one),
    unban: (ban) => void bans.delete(ban),
    sweep() {
      for (const entries of [accounts, others, bans]) entries.sweep(time());
    },
  };
}

function newKnown(): Known {
  return { minute: newPart(), day: newPart(), countsDays: true };
}

function newPart(): Part {
  return { number: 0, used: 0, outage: 0, usedBefore: 0, admitted: 0, nodes: 1, owed: 0 };
}

/** Moves a part to a window. If the clock went back, the earlier window keeps the later one's figures: see `windows.ts`. */
function enter(part: Part, number: number): void {
  if (number > part.number) Object.assign(part, { used: 0, usedBefore: 0, admitted: 0, nodes: 1, owed: 0 });
  part.number = number;
}

function reportPart(part: Part, number: number, used: number): void {
  if (number < part.number) return; // the window has ended: another node's report arrived late
  if (number > part.number) enter(part, number);
  if (used > part.used) part.used = used;
}

/** Returns a function that adds one request to `owed`, if the meters are still in the same windows when it is called. */
function oweLater(all: Known[]): () => void {
  const numbers = all.map(({ minute, day }) => [minute.number, day.number]);
  return () =>
    all.forEach(({ minute, day }, i) => {
      if (minute.number === numbers[i]![0]) minute.owed += 1;
      if (day.number === numbers[i]![1]) day.owed += 1;
    });
}

function takeOne(meter: string, known: Known): Owed {
  const { minute, day, countsDays } = known;
  const taken = [minute, day].map((part) => ({ part, number: part.number, used: part.used, owed: part.owed }));
  for (const { part, owed } of taken) {
    part.used += owed;
    part.owed = 0;
  }
  return {
    meter,
    args: [countsDays ? "1" : "0", ...taken.flatMap(({ number, used, owed }) => [number, used, owed])],
    owe() {
      for (const { part, number, owed } of taken) if (part.number === number) part.owed += owed;
    },
  };
}
