import type { DatabaseSync } from "node:sqlite";
import { empty, type Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import { recordedEvent, type Origin, type RecordedEvent } from "../events.ts";
import { andThen, type Awaitable, type Transaction } from "./database.ts";
import { portionsOf } from "./statement.ts";
import type { openRowCache } from "./sqlite-row-cache.ts";
import type { openSequences } from "./sqlite-sequences.ts";
import type { Statements } from "./sqlite-statements.ts";

/** The writer of an engine, within one of its transactions. */
export type Writer = {
  writer: DatabaseSync;
  write: Statements;
  sequences: ReturnType<typeof openSequences>;
  rowCache: Pick<ReturnType<typeof openRowCache>, "stopWatching">;
  clock: Clock;
};

/** The most values that a loop over rows inserts without looking at the time. */
const valuesOfStep = 64;

/**
 * The transaction of one body, and the events that it recorded. It refuses every use after `end`.
 *
 * @param takeTime called before each statement, which waits for the promise that it returns. May throw
 */
export function openTransaction(
  { writer, write, sequences, rowCache, clock }: Writer,
  origin: Origin,
  takeTime: () => Promise<void> | undefined,
) {
  let open = true;
  const recorded: RecordedEvent[] = [];
  const requireOpen = () => {
    if (!open) throw new Error("the transaction is over");
  };
  const inTime = <T>(run: () => T): Awaitable<T> => {
    requireOpen();
    const turn = takeTime();
    if (!turn) return run();
    return turn.then(() => {
      requireOpen();
      return run();
    });
  };
  const tx: Transaction = {
    forUpdate: empty,
    skipLocked: () => empty,
    query: async <R>(query: Sql) => inTime(() => write.rows(query) as R[]),
    rows: (statement, values) => inTime(() => write.arrays(statement, values)),
    run: (statement, values) => inTime(() => write.run(statement, values)),
    insert: ({ sequence, statementFor }, rows) => {
      requireOpen();
      const whole = rows.map((row) => [sequences.next(sequence), ...row]);
      const portions = [...portionsOf(whole, whole[0]?.length ?? 1, valuesOfStep)];
      const insertFrom = (first: number): Awaitable<void> => {
        for (let i = first; i < portions.length; i++) {
          const inserted = tx.run(statementFor(portions[i]!.length), portions[i]!.flat());
          if (inserted instanceof Promise) return inserted.then(() => insertFrom(i + 1));
        }
      };
      return andThen(insertFrom(0), () => whole.map(([id]) => id as number));
    },
    giveTurn: takeTime,
    record: (event, of) => {
      requireOpen();
      recorded.push(recordedEvent(event, of ? { ...origin, ...of } : origin, clock));
    },
    change: async (query) => inTime(() => write.change(query)),
    script: async (text) => {
      rowCache.stopWatching();
      writer.exec(text);
      sequences.load(); // a migration may have changed them
    },
    lock: async () => undefined, // there is a single writer
    tryLock: async () => true,
    startOver: () => undefined,
  };
  return { tx, end: () => void (open = false), recorded };
}
