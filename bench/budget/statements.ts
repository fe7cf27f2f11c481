import { closeSync, cpSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync, type SQLInputValue } from "node:sqlite";
import { fdatasyncInPool } from "../../src/platform/db/sqlite-log.ts";
import { cpuUs } from "./whole.ts";

const methods = ["all", "get", "run"] as const;
/** A statement that the service ran, with its values. */
type Call = { method: (typeof methods)[number]; text: string; values: SQLInputValue[] };
/** The statements of one transaction that was committed, or of some reads. */
type Transaction = { calls: Call[]; isCommitted: boolean };

export type Recording = { transactions: Transaction[]; requests: number };

/** Statements that begin and end transactions and savepoints. */
const control = /^(BEGIN|SAVEPOINT|RELEASE|ROLLBACK|PRAGMA)/;
/** The length of the log (pages) at which the service copies it into the file. */
const pagesMax = 1_000;
const file = "petstore.db";
const commit = "COMMIT";

/** Copies the database of a service that is idle, with its log. */
export function copyDatabase(dataDir: string, to: string): void {
  for (const end of ["", "-wal"]) cpSync(join(dataDir, file + end), join(to, file + end));
}

/** Records the statements that this process runs on any connection while `work` runs, which resolves with the number of its requests. */
export async function recordStatements(work: () => Promise<number>): Promise<Recording> {
  const transactions: Transaction[] = [];
  let calls: Call[] = [];
  const end = (isCommitted: boolean): void => {
    if (calls.length > 0) transactions.push({ calls, isCommitted });
    calls = [];
  };
  const note = (statement: StatementSync, method: Call["method"], values: SQLInputValue[]): void => {
    const text = statement.sourceSQL.trim();
    if (text === commit) end(true);
    else if (!control.test(text)) calls.push({ method, text, values });
  };
  const { prototype } = StatementSync;
  const inner = methods.map((method) => Reflect.get(prototype, method) as Method);
  for (const [i, method] of methods.entries()) {
    Reflect.set(prototype, method, function (this: StatementSync, ...values: SQLInputValue[]) {
      note(this, method, values);
      return inner[i]!.apply(this, values);
    });
  }
  try {
    const requests = await work();
    end(false);
    return { transactions, requests };
  } finally {
    for (const [i, method] of methods.entries()) Reflect.set(prototype, method, inner[i]);
  }
}

type Method = (this: StatementSync, ...values: SQLInputValue[]) => unknown;

/** What a recording has of each kind of statement, such as `INSERT INTO orders`. */
function kindOf(text: string): string {
  const words = text.replaceAll(/\s+/g, " ");
  const [found] = /^(INSERT INTO|UPDATE|DELETE FROM) \w+/.exec(words) ?? [];
  return found ?? `SELECT … FROM ${/ FROM (\w+)/.exec(words)?.[1]}`;
}

const durability = "flush and copy of the log";

/** The names of a recording's steps. Leaves out kinds that are rarer than the transactions: they belong to background work. */
export function kindsOf({ transactions }: Recording): string[] {
  const counts = new Map<string, number>();
  for (const { calls } of transactions)
    for (const kind of new Set(calls.map(({ text }) => kindOf(text)))) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].filter(([, count]) => count > transactions.length / 2).map(([kind]) => kind);
  return transactions.some(({ isCommitted }) => isCommitted) ? [...kinds, commit, durability] : kinds;
}

/**
 * Runs the statements of a recording again on a copy of the database from before it, with the settings of the embedded engine, all of one
 * kind in a transaction together. Returns the CPU (µs) that each kind takes of a request. The first half only fills the caches.
 */
export async function replay({ transactions, requests }: Recording, from: string, kinds: readonly string[]): Promise<number[]> {
  const copy = join(from, "replay");
  mkdirSync(copy, { recursive: true });
  copyDatabase(from, copy);
  const database = new DatabaseSync(join(copy, file));
  database.function("nextval", { varargs: true }, () => null);
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  database.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0");
  const log = openSync(join(copy, `${file}-wal`), "r+");
  const replaying = { database, log, prepared: new Map<string, StatementSync>() };
  const half = Math.floor(transactions.length / 2);
  const costs = new Map<string, number>();
  for (const [i, transaction] of transactions.entries())
    await replayOne(replaying, transaction, i < half ? new Map<string, number>() : costs);
  database.close();
  closeSync(log);
  const share = (transactions.length - half) / transactions.length;
  return kinds.map((kind) => (costs.get(kind) ?? 0) / (requests * share));
}

type Replaying = { database: DatabaseSync; log: number; prepared: Map<string, StatementSync> };

async function replayOne(
  { database, log, prepared }: Replaying,
  { calls, isCommitted }: Transaction,
  costs: Map<string, number>,
): Promise<void> {
  const add = (kind: string, us: number): void => void costs.set(kind, (costs.get(kind) ?? 0) + us);
  const byKind = Map.groupBy(calls, ({ text }) => kindOf(text));
  database.exec("BEGIN");
  for (const [kind, own] of byKind) {
    const runs = own.map(({ text, method, values }) => ({ statement: preparedFor(database, prepared, text), method, values }));
    const us = await cpuUs(() => runs.forEach(({ statement, method, values }) => statement[method](...values)));
    add(kind, us);
  }
  const ending = preparedFor(database, prepared, commit);
  const us = await cpuUs(() => ending.run());
  if (!isCommitted) return;
  add(commit, us);
  add(durability, await cpuUs(() => fdatasyncInPool(log)));
  const look = preparedFor(database, prepared, "PRAGMA wal_checkpoint(NOOP)");
  const shorten = async (): Promise<void> => {
    const [, pages = 0] = look.get() as unknown as number[];
    if (pages >= pagesMax) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  };
  add(durability, await cpuUs(shorten));
}

function preparedFor(database: DatabaseSync, prepared: Map<string, StatementSync>, text: string): StatementSync {
  let statement = prepared.get(text);
  if (!statement) {
    prepared.set(text, (statement = database.prepare(text)));
    statement.setReturnArrays(true);
  }
  return statement;
}
