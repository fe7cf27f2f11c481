import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import sql from "sql-template-tag";
import { minuteMs } from "../clock.ts";
import { unavailable, type Database, type Queryable, type Transaction } from "./database.ts";
import { holdersOf, lockTables, lockWaitMs, sayHolder, strongLockMs, withLockRetries } from "./lock-waits.ts";
import { strongLocksOf, type StrongLock } from "./migration-effects.ts";

type Engine = Database["engine"];

const folder = new URL("../../../migrations/", import.meta.url);
const fileName = /^(\d{4})_([a-z0-9_]+?)(?:\.(sqlite|postgres))?\.sql$/;

/** The migrations for an engine, in order: `0001_name.sql` for both, `0001_name.sqlite.sql` for one of them. */
export function migrationsFor(engine: Engine): Migration[] {
  return readdirSync(folder)
    .flatMap((file) => {
      const match = fileName.exec(file);
      if (!match) throw new Error(`migrations/${file} is not named as a migration`);
      if (match[3] && match[3] !== engine) return [];
      return [newMigration(Number(match[1]), String(match[2]), readFileSync(new URL(file, folder), "utf8"))];
    })
    .toSorted((a, b) => a.number - b.number);
}

/** A migration with the hash of its SQL, which does not depend on the line endings of a checkout. */
export function newMigration(number: number, name: string, script: string): Migration {
  const text = script.replaceAll("\r\n", "\n");
  return { number, name, script: text, hash: createHash("sha256").update(text).digest("hex") };
}

/** Time for one statement of a migration, which may rewrite a large table. */
const statementMs = 600_000;

/** Called with a line of text before a step that may take long, if the database has rows, and while a migration waits for a lock. */
export type OnStep = (line: string) => void;

type Run = {
  now: number;
  migrations: Migration[];
  onStep: OnStep;
  guard: (tx: Transaction) => Promise<void>;
  waiting: Waiting;
  tried: number | undefined;
};

/** The locks of tables that a migration waits for; without locks, it waits for the end of another process's work. */
type Waiting = { label: string; locks: ReadonlyMap<string, StrongLock> };
const forOthers: Waiting = { label: "", locks: new Map() };
const forHistory: Waiting = { label: "the table of migrations", locks: new Map([["migrations", "ACCESS EXCLUSIVE"]]) };

/**
 * Brings the schema up to date, each migration in one transaction with its record. If many nodes start at once, one of them
 * runs each migration and the others wait for it. On PostgreSQL a migration waits for its locks in short tries, so that no node that serves waits
 * behind it for longer than one of them (decision 0115).
 *
 * @param onStep called before each step of a migration whose script has steps (`-- Step: the orders`), and with what a migration waits for
 * @param options.waitMs how long a migration tries to get its locks
 * @param options.guard called in the transaction of each migration; throws if the migration may not be applied now
 * @returns the names of the migrations that it applied
 * @throws HistoryError, and changes nothing, if the data has other migrations than this program
 */
export async function migrate(
  db: Pick<Database, "engine" | "write">,
  now: number,
  migrations = migrationsFor(db.engine),
  onStep: OnStep = () => undefined,
  { waitMs = lockWaitMs, guard = async () => undefined }: { waitMs?: number; guard?: Run["guard"] } = {},
): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const name = await applyPatiently(db, { now, migrations, onStep, guard, waiting: forOthers, tried: undefined }, waitMs);
    if (name === undefined) return names;
    names.push(name);
  }
}

/** Applies the first missing migration, and tries again while it does not get its locks. */
function applyPatiently(db: Pick<Database, "engine" | "write">, run: Run, waitMs: number): Promise<string | undefined> {
  const giveUp = (holder: string): Error => {
    const { label, locks } = run.waiting;
    const line = `${holder}, and the upgrade has waited for ${Math.round(waitMs / minuteMs)} minutes`;
    if (locks.size === 0) return unavailable(new Error(line));
    return new Error(
      `${line} to lock it for ${label}: end that transaction, or start again when it is over; this migration changed nothing`,
    );
  };
  return withLockRetries(
    async () => {
      run.tried = undefined;
      let done: string | undefined = onlyTried;
      // again if another node has applied the migration meanwhile, and the next one is to be tried
      while (done === onlyTried) done = await db.write((tx) => applyNext(tx, db.engine, run), { statementMs, lockMs: strongLockMs });
      return done;
    },
    () => db.write((tx) => holderIn(tx, run.waiting.locks)),
    giveUp,
    (holder) => run.onStep(`Upgrading the database${run.waiting.label && ` (${run.waiting.label})`}: waiting, because ${holder}`),
    waitMs,
  );
}

async function holderIn(tx: Transaction, locks: Waiting["locks"]): Promise<string> {
  if (locks.size === 0) return "another process migrates or restores it";
  const [holder] = await holdersOf(tx, locks);
  return holder ? sayHolder(holder) : `other transactions have held ${[...locks.keys()].join(" or ")}`;
}

/** What `applyNext` returns after it only tried to lock the tables. No migration has this name. */
const onlyTried = "";

/**
 * Applies the first missing migration. Returns its name, or undefined if none is missing. First it only takes and releases the locks of all its tables: then
 * no long transaction is in the way, so each statement soon gets its own lock, and no table is locked before the statement that needs it.
 */
async function applyNext(tx: Transaction, engine: Engine, run: Run): Promise<string | undefined> {
  const { now, migrations, onStep, guard } = run;
  run.waiting = forOthers;
  await tx.lock("migrations");
  run.waiting = forHistory;
  const rows = await readApplied(tx, engine);
  const [next] = pendingOf(rows, migrations);
  for (const { number, hash } of migrations) {
    if (rows.some((row) => row.number === number && row.hash === null))
      await tx.query(sql`UPDATE migrations SET hash = ${hash} WHERE number = ${number}`);
  }
  if (!next) return undefined;
  await guard(tx);
  if (engine === "postgres") {
    const locks = strongLocksOf(next.script);
    run.waiting = { label: labelOf(next), locks };
    if (rows.length > 0 && locks.size > 0 && run.tried !== next.number) {
      run.tried = next.number;
      await lockTables(tx, locks);
      return onlyTried;
    }
  }
  const [before = "", ...steps] = next.script.split(/^-- Step: (.+)$/m);
  await tx.script(before);
  for (let at = 0; at < steps.length; at += 2) {
    onStep(`Upgrading the database (${labelOf(next)}), step ${at / 2 + 1} of ${steps.length / 2}: ${steps[at]}`);
    await tx.script(steps[at + 1]!);
  }
  await tx.query(sql`
    INSERT INTO migrations (number, name, applied_at, hash) VALUES (${next.number}, ${next.name}, ${now}, ${next.hash})`);
  return next.name;
}

const columnNames = {
  sqlite: sql`SELECT name FROM pragma_table_info('migrations')`,
  postgres: sql`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = 'migrations'`,
};

/** The columns of the table of applied migrations; none if there is no such table. */
export async function columnsOfMigrations(db: Pick<Queryable, "query">, engine: Engine): Promise<string[]> {
  return (await db.query<{ name: string }>(columnNames[engine])).map(({ name }) => name);
}

/** Reads the table of applied migrations. Creates it if it is absent, and adds the column that release 1.1.0 and earlier ones did not have. */
async function readApplied(tx: Transaction, engine: Engine): Promise<AppliedMigration[]> {
  const columns = await columnsOfMigrations(tx, engine);
  if (columns.length === 0) {
    await tx.script(`CREATE TABLE migrations (
      number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL, hash TEXT)`);
  } else if (!columns.includes("hash")) {
    // Checked first, because ADD COLUMN IF NOT EXISTS waits for a backup that reads the table, even if the column exists.
    await tx.script("ALTER TABLE migrations ADD COLUMN hash TEXT");
  }
  return tx.query<AppliedMigration>(sql`SELECT number, name, hash FROM migrations ORDER BY number`);
}

/** A numbered change of the schema. `hash` is of its SQL. */
export type Migration = { number: number; name: string; script: string; hash: string };

/** A row of the table `migrations`. `hash` is null in rows of release 1.1.0 and earlier ones. */
export type AppliedMigration = { number: number; name: string; hash: string | null };

/** The data has other migrations than this program. The message is one line that names the first of them. */
export class HistoryError extends Error {}

/** A newer version of the program wrote the data. `last` is the number of this program's last migration. */
export class NewerDataError extends HistoryError {
  readonly last: number;

  constructor(newer: AppliedMigration, last: number) {
    super(
      `the data was written by a newer version of the program (migration ${labelOf(newer)} is unknown here, where ${digits(last)} is the last)`,
    );
    this.last = last;
  }
}

/**
 * Returns the migrations that are missing in the data, in order.
 *
 * @param applied the data's migrations, in order
 * @throws NewerDataError; HistoryError for a gap, another name at a number, or a changed script
 */
export function pendingOf(applied: AppliedMigration[], migrations: Migration[]): Migration[] {
  const last = migrations.at(-1)?.number ?? 0;
  const ours = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const row of applied.filter(({ number }) => number <= last)) requireOurs(row, ours.get(row.number));
  const newer = applied.find(({ number }) => number > last);
  if (newer) throw new NewerDataError(newer, last);

  const numbers = new Set(applied.map(({ number }) => number));
  const pending = migrations.filter(({ number }) => !numbers.has(number));
  const latest = applied.at(-1);
  const [first] = pending;
  if (first && latest && first.number < latest.number) {
    throw new HistoryError(
      `migration ${labelOf(first)} is missing in the data, which has ${labelOf(latest)}: no release of this program wrote the data; ${advice}`,
    );
  }
  return pending;
}

const advice = "start the program that did, or restore a backup";

function requireOurs(row: AppliedMigration, ours: Migration | undefined): void {
  const reason =
    ours === undefined
      ? "which has none of this number"
      : ours.name !== row.name
        ? `whose migration of this number is ${ours.name}`
        : row.hash !== null && row.hash !== ours.hash
          ? "whose migration of this name has other SQL"
          : undefined;
  if (reason === undefined) return;
  throw new HistoryError(
    `migration ${labelOf(row)} in the data is not the one of this program, ${reason}: another program wrote the data; ${advice}`,
  );
}

/** `0012 changes_of_hosts` */
export function labelOf({ number, name }: Pick<Migration, "number" | "name">): string {
  return `${digits(number)} ${name}`;
}

function digits(number: number): string {
  return String(number).padStart(4, "0");
}
