import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmpty, placeFileSync, timeInName } from "../files.ts";
import { pendingOf, type AppliedMigration, type Migration, type OnStep } from "./migrate.ts";
import { storageFaultOf } from "./sqlite-statements.ts";

/** The number of copies to keep: those of the latest upgrades. */
const copiesMax = 2;
const copyName = /^before-upgrade-(\d{4})-to-(\d{4})-(\d{8}T\d{6}Z)\.db$/;
const temporaryName = /^before-upgrade-.*\.db\.new(-journal|-wal|-shm)?$/;

/** A complete copy of the embedded database as it was before an upgrade. `from` and `to` are numbers of migrations. */
type Copy = { name: string; from: number; to: number; at: string };

/** The copy cannot be made. The message is one line. */
class CopyError extends Error {}

/**
 * Copies an existing database before the first migration of an upgrade, into its folder, so that the release that wrote it can open the
 * copy. An upgrade that was interrupted has its copy already. Nothing else may write to the database meanwhile; the thread is blocked.
 *
 * @param file path of the database
 * @returns the path of the upgrade's copy; undefined if no migration is missing, or if the database is new
 * @throws CopyError, and leaves nothing behind; HistoryError if the data has other migrations than this program
 */
export function copyBeforeUpgrade(file: string, migrations: Migration[], now: number, onStep: OnStep): string | undefined {
  const folder = dirname(file);
  removeUnfinished(folder);
  const source = new DatabaseSync(file, { readOnly: true });
  try {
    const applied = appliedIn(source);
    const to = migrations.at(-1)?.number ?? 0;
    const from = applied.at(-1)?.number;
    if (from === undefined || pendingOf(applied, migrations).length === 0) return undefined;
    const [latest] = copiesIn(folder);
    if (latest && latest.from < from && from < latest.to) return join(folder, latest.name);

    const name = `before-upgrade-${digits(from)}-to-${digits(to)}-${timeInName(now)}.db`;
    onStep(`Copying the database to ${join(folder, name)} before its upgrade`);
    makeCopy(source, join(folder, name), applied);
    removeOld(folder, name);
    return join(folder, name);
  } finally {
    source.close();
  }
}

/** The path of the latest copy that a program with this last migration can open. */
export function copyToGoBackTo(file: string, last: number): string | undefined {
  const folder = dirname(file);
  const copy = copiesIn(folder).find(({ from }) => from <= last);
  return copy && join(folder, copy.name);
}

function appliedIn(source: DatabaseSync): AppliedMigration[] {
  const columns = source.prepare("SELECT name FROM pragma_table_info('migrations')").all();
  if (columns.length === 0) return [];
  const hash = columns.some(({ name }) => name === "hash") ? "hash" : "NULL AS hash";
  return source.prepare(`SELECT number, name, ${hash} FROM migrations ORDER BY number`).all() as AppliedMigration[];
}

/** Writes the copy under a temporary name, checks and flushes it, and gives it its name. */
function makeCopy(source: DatabaseSync, path: string, applied: AppliedMigration[]): void {
  const temporary = `${path}.new`;
  try {
    createEmpty(temporary); // VACUUM INTO takes an empty file, and keeps its mode
    source.prepare("VACUUM INTO ?").run(temporary);
    check(temporary, applied);
    placeFileSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { message, code } = error as Error & { code?: string };
    if (storageFaultOf(error) === "damaged") throw error;
    throw new CopyError(
      `the database cannot be copied to ${path} before its upgrade (${code === "ERR_SQLITE_ERROR" ? message : (code ?? message)}): ` +
        "nothing was changed; make room for a copy of the database and start again",
      { cause: error },
    );
  }
}

function check(path: string, applied: AppliedMigration[]): void {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const faults = copy.prepare("PRAGMA quick_check(1)").all();
    const isWhole = faults.length === 1 && Object.values(faults[0] ?? {})[0] === "ok" && appliedIn(copy).length === applied.length;
    if (!isWhole) throw new Error("the disk does not return what was written");
  } finally {
    copy.close();
  }
}

/** Removes the unfinished copies of processes that ended while they copied. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => temporaryName.test(one))) rmSync(join(folder, name), { force: true });
}

/** Removes earlier copies for the same upgrade, which failed at its first migration, and copies beyond `copiesMax`. */
function removeOld(folder: string, made: string): void {
  const pairOf = (name: string): string => name.slice(0, name.lastIndexOf("-"));
  const earlier = copiesIn(folder).filter(({ name }) => name !== made);
  const kept = new Set(earlier.filter(({ name }) => pairOf(name) !== pairOf(made)).slice(0, copiesMax - 1));
  for (const copy of earlier) if (!kept.has(copy)) rmSync(join(folder, copy.name), { force: true });
}

/** The copies of a folder, the latest first. */
function copiesIn(folder: string): Copy[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, from, to, at] = copyName.exec(name) ?? [];
      return at === undefined ? [] : [{ name, from: Number(from), to: Number(to), at }];
    })
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

function digits(number: number): string {
  return String(number).padStart(4, "0");
}
