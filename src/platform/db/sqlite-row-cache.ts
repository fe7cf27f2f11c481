import type { DatabaseSync } from "node:sqlite";
import type { Shown } from "./statement.ts";

export type Key = readonly [accountId: number, id: number];

/** The most rows of a table in memory, of about 250 bytes each. Beyond them the oldest is dropped. */
const rowsMax = 100_000;
/** The longest text that is kept, in characters of at most two bytes. */
const charactersMax = 160;
/** Changed rows that are noted one by one. If more change before the reader sees them, all rows are dropped. */
const changedMax = 10_000;
/** Identifiers below these make one whole number together; rows of others are not kept. */
const [accountsEnd, idsEnd] = [2 ** 21, 2 ** 31];

const changes = ["UPDATE", "DELETE"];

/** What is shown of the rows of one table, by `keyOf`. The iterator stays, because a new one would first have to skip the gaps that dropped rows leave. */
type Kept = { rows: Map<number, Shown>; oldest: Iterator<number> };

/**
 * Keeps what is shown of rows that were read by their primary key, because SQLite finds a row in two trees, whose pages are scattered over more memory than the
 * caches of the processor hold. A value follows from its row alone (`keyStatement`), and is kept and dropped with it.
 *
 * Each row is what a query would return, because
 * - it is kept as the reader's snapshot shows it, and all reads share one snapshot until the next durable commit;
 * - triggers of the writer's connection, through which all writes of this process pass, name each row that a statement or a foreign key changes
 *   or deletes. `settle` drops these rows when the reader leaves its snapshot. A script may change the tables, so it drops all rows;
 * - `PRAGMA data_version` says whether another process has written. `check` asks at each new snapshot, and then drops all rows.
 *
 * Rows that do not exist are not kept, so an INSERT needs no trigger. SQLite fires none for the rows that `INSERT OR REPLACE` deletes: a test
 * refuses such statements.
 */
export function openRowCache(writer: DatabaseSync) {
  const version = writer.prepare("PRAGMA data_version");
  const currentVersion = (): unknown => version.get()?.["data_version"];
  const cache: Cache = { writer, tables: new Map(), changed: new Map(), noted: 0, isAllChanged: false };
  let seenVersion = currentVersion();
  writer.function("row_changed", (table, accountId, id) => noteChange(cache, String(table), keyOf(Number(accountId), Number(id))));
  return {
    /** Returns what is shown of the row with this key, if it is kept. */
    find(table: string, [accountId, id]: Key): Shown | undefined {
      const key = keyOf(accountId, id);
      return key === undefined ? undefined : cache.tables.get(table)?.rows.get(key);
    },
    /** Keeps what is shown of a row that the reader has read in its present snapshot. */
    keep(table: string, [accountId, id]: Key, shown: Shown): void {
      const key = keyOf(accountId, id);
      if (key === undefined || shown.text.length > charactersMax) return;
      const kept = cache.tables.get(table) ?? watch(cache, table);
      if (!kept) return;
      if (kept.rows.size >= rowsMax) dropOldest(kept);
      kept.rows.set(key, Object.freeze(shown));
    },
    /** Drops the rows that transactions have changed. Called when their commits are on the disk, before the reader reads again. */
    settle: () => settle(cache),
    /** Drops all rows if another process has written. Called when the reader has a new snapshot, before it reads. */
    check(): void {
      const current = currentVersion();
      if (current !== seenVersion) dropAll(cache);
      seenVersion = current;
    },
    /** Ends the watch and drops all rows, before a script in the writer's transaction. */
    stopWatching(): void {
      for (const table of cache.tables.keys())
        for (const change of changes) writer.exec(`DROP TRIGGER IF EXISTS temp.${triggerOf(table, change)}`);
      cache.tables.clear();
      cache.isAllChanged = true;
    },
  };
}

type Cache = {
  writer: DatabaseSync;
  tables: Map<string, Kept>;
  /** The keys of changed rows, by table, and their number. */
  changed: Map<string, Set<number>>;
  noted: number;
  isAllChanged: boolean;
};

/** Begins to watch a table. Returns undefined in a transaction, whose rollback would end the watch. */
function watch(cache: Cache, table: string): Kept | undefined {
  const { writer, tables } = cache;
  if (writer.isTransaction) return undefined;
  for (const change of changes)
    writer.exec(`CREATE TEMP TRIGGER IF NOT EXISTS ${triggerOf(table, change)} AFTER ${change} ON main.${table}
      BEGIN SELECT row_changed('${table}', OLD.account_id, OLD.id); END`);
  // a commit may be on its way to the disk whose changes nothing has watched
  cache.isAllChanged = true;
  const rows = new Map<number, Shown>();
  const kept = { rows, oldest: rows.keys() };
  tables.set(table, kept);
  return kept;
}

function noteChange(cache: Cache, table: string, key: number | undefined): null {
  cache.isAllChanged ||= cache.noted >= changedMax;
  if (cache.isAllChanged || key === undefined) return null;
  cache.noted += 1;
  const ofTable = cache.changed.get(table);
  if (ofTable) ofTable.add(key);
  else cache.changed.set(table, new Set([key]));
  return null;
}

function settle(cache: Cache): void {
  const { tables, changed } = cache;
  if (cache.isAllChanged) dropAll(cache);
  else for (const [table, keys] of changed) for (const key of keys) tables.get(table)?.rows.delete(key);
  changed.clear();
  cache.noted = 0;
  cache.isAllChanged = false;
}

function dropAll({ tables }: Cache): void {
  for (const kept of tables.values()) {
    kept.rows.clear();
    kept.oldest = kept.rows.keys();
  }
}

function dropOldest(kept: Kept): void {
  let next = kept.oldest.next();
  if (next.done === true) {
    kept.oldest = kept.rows.keys();
    next = kept.oldest.next();
  }
  if (next.done !== true) kept.rows.delete(next.value);
}

function triggerOf(table: string, change: string): string {
  return `row_cache_${table}_${change.toLowerCase()}`;
}

/** One whole number for the key of a row; undefined if its identifiers are too large. */
function keyOf(accountId: number, id: number): number | undefined {
  return accountId >= 0 && accountId < accountsEnd && id >= 0 && id < idsEnd ? accountId * idsEnd + id : undefined;
}
