import { existsSync, fstatSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database } from "../platform/db/database.ts";
import { LostFileError } from "../platform/db/sqlite-files.ts";
import type { StorageFault } from "../platform/db/sqlite-statements.ts";
import type { FaultKind, Faults } from "../platform/faults.ts";
import { openSharedRuns, repeat } from "../platform/jobs/runs.ts";
import { readDatabaseTime } from "../platform/jobs/sweep.ts";
import type { OpenLog } from "../platform/log.ts";
import { Problem } from "../platform/problem.ts";
import type { DatabaseTime, SteadyClock } from "../platform/steady-clock.ts";
import type { OpenContent } from "../publishing/edge/bodies.ts";
import type { AppContext } from "./context.ts";

const checkEveryMs = 1_000;
/** A readiness probe uses a check that is not older than this. */
const freshMs = 250;
/** How long a readiness probe waits for the database. */
const probeMs = 1_000;
/** The disk counts as full below this. A write needs some KiB; one group of writes may need more. */
const freeBytesMin = 1 << 20;
/** How many writes, of one page each, must succeed before the embedded database counts as writable again. */
const triesMax = 32;
/** How long a node on PostgreSQL may be without a lease before it counts as unable to write. */
const leaselessMs = 1_000;

export type Health = {
  /** Returns why the node takes no requests; undefined if it takes them. Waits up to a second for the database. */
  refusal(): Promise<string | undefined>;
  /** The faults with which the node still takes requests. */
  warnings(): string[];
  /** The kinds of all faults. */
  faults(): FaultKind[];
  /** Free and total bytes of the data folder's disk at the last check, up to a second ago. */
  disk(): Promise<{ free: number; total: number } | undefined>;
  stop(): Promise<void>;
};

/** Begins the fault that an error of the embedded database shows. Damage and lost files stay faults until the process ends. */
export function noteStorageFault(faults: Faults, fault: StorageFault, error: unknown): void {
  const { message } = error as Error;
  if (fault === "damaged") faults.begin("database_damage", { reason: `the database is damaged: ${message}`, isRefusing: true });
  else if (fault === "unwritable")
    faults.begin("database_writes", { reason: `the database takes no writes: ${message}`, isRefusing: true });
  else
    faults.begin(error instanceof LostFileError && error.isLock ? "folder_lock" : "database_damage", { reason: message, isRefusing: true });
}

/**
 * Checks once a second, and for readiness probes: whether the disk has room, whether the database takes writes again, whether its files are
 * still those that this process opened, whether published files are missing, and whether the log loses lines. Damage stays a fault until the
 * process ends: a page that can be read again may still have wrong content.
 */
export function openHealth(
  { db, node, settings, onError }: Pick<AppContext, "db" | "node" | "settings" | "onError">,
  faults: Faults,
  content: State["content"],
  logOutput: State["logOutput"],
  time: ComparedClock,
): Health {
  const { dataDir } = settings;
  const state: State = {
    db,
    node,
    dataDir,
    faults,
    content,
    logOutput,
    disk: undefined,
    present: new Set(),
    askedTime: undefined,
    leaselessSince: undefined,
  };
  const checking = openSharedRuns<"all", void>();
  let checkedAt = -Infinity;
  const checkNow = (): Promise<void> => checking.run("all", () => check(state).finally(() => (checkedAt = performance.now())));
  // The clocks are compared separately, so that a readiness probe does not wait for the database twice.
  const jobs = [repeat(checkEveryMs, checkNow, onError), repeat(checkEveryMs, () => checkClock(state, time), onError)];
  return {
    async refusal() {
      if (performance.now() - checkedAt > freshMs) await checkNow();
      return state.faults.refusal() ?? ((await answersQueries(state.db)) ? undefined : "the database does not answer");
    },
    warnings: () => state.faults.warnings(),
    faults: () => state.faults.kinds(),
    async disk() {
      if (!state.disk) await checkNow();
      return state.disk;
    },
    stop: async () => void (await Promise.all(jobs.map((job) => job.stop()))),
  };
}

type State = Pick<AppContext, "db" | "node"> & {
  dataDir: string;
  faults: Faults;
  content: Pick<ContentWatch, "missing" | "recheck">;
  logOutput: Pick<OpenLog, "lost"> | undefined;
  disk: { free: number; total: number } | undefined;
  /** The request for the database's time that is in progress. */
  askedTime: Promise<DatabaseTime> | undefined;
  /** The names of `folderFiles` that this process has found. */
  present: Set<string>;
  leaselessSince: number | undefined;
};

async function check(state: State): Promise<void> {
  const { db, content, logOutput } = state;
  await checkDisk(state);
  db.checkFiles();
  const hasLease = db.engine === "sqlite" || checkLease(state);
  if (hasLease && state.faults.has("database_writes")) await tryWriting(state);
  if (content.missing() > 0) await content.recheck();
  const missing = content.missing();
  mark(state, "published_files", missing > 0 && `${missing} published files are missing or damaged`);
  mark(state, "folder_files", lostFiles(state));
  mark(state, "log", logOutput !== undefined && whyLogIsLost(logOutput));
}

/** What the data folder must not lose while the service runs, apart from the database's files, and what follows. */
const folderFiles = {
  "secrets.key": "put it back, because the next start needs it",
  "petstore.sock": "commands cannot reach the service until it is restarted",
  content: "published files cannot be served: put the folder back",
};

/** Returns false if everything that has been in the data folder is still there. On PostgreSQL `content` is only a cache. */
function lostFiles({ db, dataDir, present }: State): string | false {
  const lost = Object.entries(folderFiles).filter(([name]) => {
    if (existsSync(join(dataDir, name))) present.add(name);
    else return present.has(name) && (name !== "content" || db.engine === "sqlite");
    return false;
  });
  return lost.length > 0 && lost.map(([name, advice]) => `${name} was removed: ${advice}`).join("; ");
}

function whyLogIsLost({ lost }: Pick<OpenLog, "lost">): string | false {
  const { isLosing, reason } = lost();
  if (isLosing) return `log lines are lost: ${reason}`;
  const output = fstatSync(1);
  return output.isFile() && output.nlink === 0 && "log lines are lost: the file of standard output was removed";
}

async function checkDisk(state: State): Promise<void> {
  const { bsize, bavail, bfree, blocks } = await statfs(state.dataDir);
  const free = (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  state.disk = { free, total: blocks * bsize };
  mark(state, "data_disk", free < freeBytesMin && "the disk of DATA_DIR is full", { isRefusing: state.db.engine === "sqlite" });
}

/** The clock of the process, and the connection that reads the database's time: no other work delays it. */
export type ComparedClock = { clock: SteadyClock; heartbeat: Pick<Database, "engine" | "query"> };

async function checkClock(state: State, { clock, heartbeat }: ComparedClock): Promise<void> {
  // A database that does not answer is not asked twice at once.
  state.askedTime ??= readDatabaseTime(heartbeat)
    .catch(() => "unknown" as const)
    .finally(() => (state.askedTime = undefined));
  clock.check(await Promise.race([state.askedTime, sleep(probeMs, "unknown" as const, { ref: false })]));
  const trouble = clock.trouble();
  mark(
    state,
    "clock",
    trouble !== undefined && `${trouble}: nothing is deleted because of its age until the clock is right or has been steady`,
  );
}

/** Whether this node on PostgreSQL has a lease, or lost it only a moment ago. */
function checkLease(state: State): boolean {
  if (state.node.isLive()) state.leaselessSince = undefined;
  else state.leaselessSince ??= performance.now();
  const isLate = performance.now() - (state.leaselessSince ?? Infinity) >= leaselessMs;
  const reason = "this node has no lease: the database takes no writes, or answers too late";
  // a fault that an error of the database began has the better reason
  if (isLate && !state.faults.has("database_writes")) state.faults.begin("database_writes", { reason, isRefusing: true });
  return !isLate;
}

/**
 * What a database must take before it counts as writable: more than may fit into the space that its files have left. SQLite counts a row up, which
 * is a page of its log each time; PostgreSQL fills a table with a megabyte, and rolls it back.
 */
const probes = {
  sqlite: {
    text: "INSERT INTO sequences (name, value) VALUES ('write probes', 1) ON CONFLICT (name) DO UPDATE SET value = sequences.value + 1",
    times: triesMax,
  },
  postgres: {
    text: "CREATE TABLE petstore_write_probe AS SELECT md5(CAST(i AS TEXT)) AS filler FROM generate_series(1, 16384) AS i",
    times: 1,
  },
};

async function tryWriting({ db, faults }: State): Promise<void> {
  const { text, times } = probes[db.engine];
  try {
    for (let i = 0; i < times; i++) await db.write((tx) => tx.script(text), { isDryRun: db.engine === "postgres" });
    faults.end("database_writes");
  } catch {
    // the fault continues
  }
}

function mark({ faults }: State, kind: Parameters<Faults["begin"]>[0], reason: string | false, { isRefusing = false } = {}): void {
  if (reason === false) faults.end(kind);
  else faults.begin(kind, { reason, isRefusing });
}

/** Whether the database answers in time. Without a limit, a frozen database would delay the probe for longer than its caller waits. */
async function answersQueries(db: Database): Promise<boolean> {
  const answered = db.query(sql`SELECT 1`).then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(probeMs, false, { ref: false })]);
}

/** The most missing files that are remembered. */
const missingMax = 1_000;
/** Missing files that one `recheck` looks for. */
const rechecksMax = 10;

export type ContentWatch = {
  open: OpenContent;
  /** How many of the files that visitors asked for cannot be opened now; counts up to 1,000. */
  missing(): number;
  /** Looks again for some of the missing files. */
  recheck(): Promise<void>;
};

/** Opens published files, and remembers those that are missing or unreadable, or that do not have the size in their manifest. */
export function watchContent(openContent: OpenContent): ContentWatch {
  const missing = new Map<string, Parameters<OpenContent>>();

  const open: OpenContent = async (hash, encoding, size, site) => {
    const key = `${hash}.${encoding ?? ""}`;
    try {
      const handle = await openContent(hash, encoding, size, site);
      if ((await handle.stat()).size !== size) {
        await handle.close();
        throw new Error("the file does not have the size in its manifest");
      }
      if (missing.size > 0) missing.delete(key);
      return handle;
    } catch (error) {
      if (concernsFile(error) && missing.size < missingMax) missing.set(key, [hash, encoding, size, site]);
      throw error;
    }
  };

  async function recheck(): Promise<void> {
    for (const [key, file] of [...missing].slice(0, rechecksMax)) {
      missing.delete(key); // comes back at the end if it is still missing
      const handle = await open(...file).catch(() => undefined);
      await handle?.close();
    }
  }

  return { open, missing: () => missing.size, recheck };
}

/** Whether an error concerns the one file, not the store or the number of open files. */
function concernsFile(error: unknown): boolean {
  return !(error instanceof Problem) && !["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "");
}
