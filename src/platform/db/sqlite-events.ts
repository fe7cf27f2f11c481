import { bytesOfEvent } from "../event-storage.ts";
import { emptyHead, hashAfter, type Head, type RecordedEvent } from "../events.ts";
import type { Statements } from "./sqlite-statements.ts";
import { cachedByRows, portionsOf, statement, type BoundValue } from "./statement.ts";

/** The most accounts whose heads are in memory. When it is reached, all heads are dropped, and read again when they are needed. */
const headsMax = 10_000;
const columns = ["account_id", "position", "type", "at", "resource", "actor", "request_id", "version", "text", "hash"];

const findAccount = statement<[id: number]>("SELECT id FROM accounts WHERE id = ?");
const findHead = statement<[position: number, hash: string]>(
  "SELECT position, hash FROM events WHERE account_id = ? ORDER BY position DESC LIMIT 1",
);
const findWaiting = statement<[number, string, number, string, string, string | null, number | null, string, string]>(
  "SELECT account_id, type, at, resource, actor, request_id, version, head, tail FROM event_outbox ORDER BY id",
);
const deleteWaiting = statement("DELETE FROM event_outbox");
const findTable = statement<[number]>("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
const countBytes = statement("UPDATE event_storage SET log_bytes = log_bytes + ? WHERE account_id = ?");
const countFirst = statement("INSERT INTO event_storage (log_bytes, account_id) VALUES (?, ?)");
const insertOf = cachedByRows((rows) => {
  const row = `(${columns.map(() => "?").join(", ")})`;
  return statement(`INSERT INTO events (${columns.join(", ")}) VALUES ${Array.from({ length: rows }, () => row).join(", ")}`);
});

/**
 * Gives events their positions and hashes in the transaction that recorded them. The heads of the logs stay in memory, because there is a
 * single writer.
 */
export function openEventChain(write: Statements) {
  const heads = new Map<number, Head>();
  let isEmptied = false;
  const counting = openCounting(write);

  function headOf(accountId: number): Head {
    const known = heads.get(accountId);
    if (known) return known;
    const [found] = write.arrays(findHead, [accountId]);
    return found ? { position: found[0], hash: found[1] } : emptyHead;
  }

  /** Events that came without positions in a restored backup of PostgreSQL. */
  function waiting(): RecordedEvent[] {
    if (isEmptied) return [];
    isEmptied = true;
    const rows = write.arrays(findWaiting, []);
    if (rows.length > 0) write.run(deleteWaiting, []);
    return rows.map(([accountId, type, at, resource, actor, requestId, version, head, tail]) => {
      return { accountId, type, at, resource, actor, requestId, version, head, tail };
    });
  }

  return {
    /** Whether events may wait without positions: until the first commit of a database that has the table for them. */
    mayWait: (): boolean => !isEmptied && write.arrays(findTable, ["event_outbox"]).length > 0,
    /** Appends events to the logs of their accounts in the transaction that recorded them, and returns them by account. Skips accounts that it deleted. */
    append(recorded: readonly RecordedEvent[]): ReadonlyMap<number, readonly RecordedEvent[]> {
      if (heads.size >= headsMax) heads.clear();
      const values: BoundValue[] = [];
      const byAccount = Map.groupBy([...waiting(), ...recorded], ({ accountId }) => accountId);
      for (const [accountId, own] of byAccount) {
        if (write.arrays(findAccount, [accountId]).length === 0) continue;
        let { position, hash } = headOf(accountId);
        let bytes = 0;
        for (const event of own) {
          position += 1;
          const text = event.head + position + event.tail;
          hash = hashAfter(hash, text);
          bytes += bytesOfEvent(text);
          addValues(values, event, { position, text, hash });
        }
        counting.add(accountId, bytes);
        heads.set(accountId, { position, hash });
      }
      for (const portion of portionsOf(values, columns.length)) write.run(insertOf(portion.rows), portion.values);
      return byAccount;
    },
    /** Called when the transaction was rolled back. */
    forget(): void {
      heads.clear();
      isEmptied = false;
      counting.forget();
    },
  };
}

/** Counts the bytes of new events. A schema without the table for it is about to be migrated, which counts all events. */
function openCounting(write: Statements) {
  let hasTable = false;
  return {
    add(accountId: number, bytes: number): void {
      hasTable ||= write.arrays(findTable, ["event_storage"]).length > 0;
      if (hasTable && write.run(countBytes, [bytes, accountId]) === 0) write.run(countFirst, [bytes, accountId]);
    },
    /** Called when the transaction was rolled back. */
    forget: () => void (hasTable = false),
  };
}

/** Adds the values of an event with its place in the chain, in the order of `columns`. */
function addValues(values: BoundValue[], event: RecordedEvent, { position, text, hash }: Head & { text: string }): void {
  const { accountId, type, at, resource, actor, requestId, version } = event;
  values.push(accountId, position, type, at, resource, actor, requestId, version, text, hash);
}
