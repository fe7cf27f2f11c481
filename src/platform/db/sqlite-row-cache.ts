import type { DatabaseSync } from "node:sqlite";
import type { preparedStatements } from "./sqlite-statements.ts";
import type { Bound, KeyStatement, Listing, RowView } from "./statement.ts";

type Key = readonly [accountId: number, id: number];

/** The most rows of a table in memory, of about 250 bytes each. Beyond them the oldest is dropped. */
const rowsMax = 100_000;
/** The longest text that is kept, in characters of at most two bytes. */
const charactersMax = 160;
/** Changed rows that are noted one by one. If more change before the reader sees them, all rows are dropped. */
const changedMax = 10_000;
/** Rows with larger identifiers are not kept: V8 finds small whole numbers several times as fast. */
const idMax = 2 ** 31 - 1;

const changes = ["UPDATE", "DELETE"];

/** The most lists in a row that are read from the table without a look in memory first. */
const skipsMax = 31;

/**
 * The shown rows of one account, by id. While rows are dropped to make room, the iterator is kept, because a new one would first have to skip the
 * gaps that they leave. It is not kept any longer: it holds every table that the Map outgrows until it moves on.
 */
type CachedAccount = { rows: Map<number, RowView>; oldest: Iterator<number> | undefined };

/**
 * The rows of one table, by account, and their number. After a list that did not find all its rows here, the next `skips` lists are read from
 * the table without looking; `skipsLeft` of them are still to come. `skips` about doubles with each such list, and a list that finds all sets it to 0.
 */
type CachedTable = { accounts: Map<number, CachedAccount>; size: number; skips: number; skipsLeft: number };

/**
 * Keeps the shown form of rows that were read by their primary key, because SQLite finds a row in two trees, whose pages are scattered over more
 * memory than the caches of the processor hold. The shown form depends on the row alone (`keyStatement`).
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
export function openRowCache(writer: DatabaseSync, reader: Reader) {
  const version = writer.prepare("PRAGMA data_version");
  const currentVersion = (): unknown => version.get()?.["data_version"];
  const cache: Cache = { writer, tables: new Map(), changed: [], isAllChanged: false };
  let seenVersion = currentVersion();
  writer.function("row_changed", (table, accountId, id) => noteChange(cache, [String(table), Number(accountId), Number(id)]));
  return {
    /** Returns the shown form of the row with this key; undefined if there is none. */
    find<S extends RowView>(statement: KeyStatement<S>, key: Key): S | undefined {
      const [accountId, id] = key;
      const kept = cache.tables.get(statement.table)?.accounts.get(accountId)?.rows.get(id);
      if (kept) return kept as S;
      const [row] = reader.arrays(statement, key);
      if (row === undefined) return undefined;
      const shown = statement.show(row);
      keep(cache, statement.table, key, shown);
      return shown;
    },
    /** Returns the shown rows of a list. Reads their ids, which an index has, and takes the rows from memory; if one is not there, reads all rows. */
    findAll<S extends RowView>(statement: KeyStatement<S>, accountId: number, { ids, rows }: Listing): S[] {
      const arrays = <R extends unknown[]>({ statement: list, values }: Bound<R>): R[] => reader.arrays(list, values);
      const { table } = statement;
      const kept = cache.tables.get(table);
      const isTried = !kept || kept.skipsLeft === 0;
      if (!isTried) kept.skipsLeft -= 1;
      const found = kept && isTried ? findKept(kept, accountId, arrays(ids())) : undefined;
      if (found) return found as S[];
      return arrays(rows()).map((row) => {
        const shown = statement.show(row);
        if (isTried) keep(cache, table, [accountId, Number(row[0])], shown);
        return shown;
      });
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

type Reader = Pick<ReturnType<typeof preparedStatements>, "arrays">;

/** A row that was changed or deleted. */
type Change = [table: string, accountId: number, id: number];

type Cache = {
  writer: DatabaseSync;
  tables: Map<string, CachedTable>;
  changed: Change[];
  isAllChanged: boolean;
};

/** Returns the shown form of the rows with these ids if all are kept, and decides how many of the next lists do not look here. */
function findKept(kept: CachedTable, accountId: number, ids: readonly [id: number][]): RowView[] | undefined {
  const rows = kept.accounts.get(accountId)?.rows;
  const found: RowView[] = [];
  for (const [id] of ids) {
    const shown = rows?.get(id);
    if (!shown) {
      kept.skips = kept.skipsLeft = Math.min(2 * kept.skips + 1, skipsMax);
      return undefined;
    }
    found.push(shown);
  }
  kept.skips = 0;
  return found;
}

/** Keeps the shown form of a row that the reader has read in its present snapshot. */
function keep(cache: Cache, table: string, [accountId, id]: Key, shown: RowView): void {
  if (id > idMax || accountId > idMax || shown.text.length > charactersMax) return;
  const kept = cache.tables.get(table) ?? watch(cache, table);
  if (!kept) return;
  if (kept.size >= rowsMax) dropOldest(kept);
  let account = kept.accounts.get(accountId);
  if (!account) kept.accounts.set(accountId, (account = { rows: new Map(), oldest: undefined }));
  if (kept.size < rowsMax - 1) account.oldest = undefined;
  const { rows } = account;
  kept.size -= rows.size;
  rows.set(id, Object.freeze(shown));
  kept.size += rows.size;
}

/** Begins to watch a table. Returns undefined in a transaction, whose rollback would end the watch. */
function watch(cache: Cache, table: string): CachedTable | undefined {
  const { writer, tables } = cache;
  if (writer.isTransaction) return undefined;
  for (const change of changes)
    writer.exec(`CREATE TEMP TRIGGER IF NOT EXISTS ${triggerOf(table, change)} AFTER ${change} ON main.${table}
      BEGIN SELECT row_changed('${table}', OLD.account_id, OLD.id); END`);
  // a commit that is being flushed may have changed rows while nothing watched
  cache.isAllChanged = true;
  const kept = { accounts: new Map<number, CachedAccount>(), size: 0, skips: 0, skipsLeft: 0 };
  tables.set(table, kept);
  return kept;
}

function noteChange(cache: Cache, change: Change): null {
  cache.isAllChanged ||= cache.changed.length >= changedMax;
  if (!cache.isAllChanged) cache.changed.push(change);
  return null;
}

function settle(cache: Cache): void {
  const { tables, changed } = cache;
  if (cache.isAllChanged) dropAll(cache);
  else for (const [table, accountId, id] of changed) drop(tables.get(table), accountId, id);
  cache.changed = [];
  cache.isAllChanged = false;
}

function dropAll({ tables }: Cache): void {
  for (const kept of tables.values()) {
    kept.accounts.clear();
    kept.size = 0;
  }
}

function drop(kept: CachedTable | undefined, accountId: number, id: number): void {
  const { rows } = kept?.accounts.get(accountId) ?? {};
  if (!kept || !rows?.delete(id)) return;
  kept.size -= 1;
  if (rows.size === 0) kept.accounts.delete(accountId);
}

/** Drops the oldest row of the account that came first. */
function dropOldest(kept: CachedTable): void {
  const [first] = kept.accounts;
  if (!first) return;
  const [accountId, account] = first;
  let next = (account.oldest ??= account.rows.keys()).next();
  if (next.done === true) next = (account.oldest = account.rows.keys()).next();
  if (next.done !== true) drop(kept, accountId, next.value);
}

function triggerOf(table: string, change: string): string {
  return `row_cache_${table}_${change.toLowerCase()}`;
}
