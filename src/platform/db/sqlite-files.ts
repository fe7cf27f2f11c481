import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { endianness } from "node:os";
import { basename } from "node:path";
import { writeDurablySync } from "../files.ts";

/** SQLite cuts a longer log to this many bytes when it starts over. */
export const logBytesKept = 16_777_216;

/** A file that this process has open was removed, moved, replaced or cut short, so what is written to it may be lost. The message is one line. */
export class LostFileError extends Error {
  /** Whether the file is the log or its index: until the process ends, they are whole in its memory and in its open files. */
  readonly isLog: boolean;
  /** Whether the file is the lock of the folder: another process may use the folder. */
  readonly isLock: boolean;

  constructor(path: string, harm: string, { isLog = false, isLock = false } = {}) {
    const advice = isLock
      ? "another process may use the folder: stop both, then start one"
      : "put it back or restore a backup, then restart the service";
    super(`${basename(path)} was ${harm} while the service runs: ${advice}`);
    this.name = "LostFileError";
    this.isLog = isLog;
    this.isLock = isLock;
  }
}

type WatchedFile = { path: string; dev: number; ino: number; isLog: boolean; isLock: boolean };

/**
 * Compares the files that the engine has open with those at their paths. A write to a removed file succeeds and is lost, so the engine
 * checks them before each commit, and again before it answers the writes of the commit.
 *
 * @param file path of the database, which is open
 * @param lock path of the lock that this process has on the folder, if there is one
 */
export function watchFiles(file: string, lock: string | undefined) {
  const log = `${file}-wal`;
  const index = `${file}-shm`;
  const watched = [file, log, index, ...(lock === undefined ? [] : [lock])].map((path) =>
    watchedFile(path, { isLog: path === log || path === index, isLock: path === lock }),
  );
  const written = watched.slice(0, 2);
  /** The least length that the database and its log have: they get shorter only by a checkpoint, or when the log starts over. */
  let least = { file: 0, log: 0 };
  let isCopying = false;

  function look(some: readonly WatchedFile[]): void {
    const sizes = some.map(requireInPlace);
    const [fileBytes = 0, logBytes = 0] = sizes;
    if (fileBytes < least.file && !isCopying) throw new LostFileError(file, "cut short");
    // Another program that uses SQLite may copy the log into the database and empty it, as tools for replication do.
    if (logBytes < least.log && logBytes < bytesOfLog(index)) throw new LostFileError(log, "cut short");
    least = { file: fileBytes, log: Math.min(logBytes, logBytesKept) };
  }

  return {
    /** @throws LostFileError */
    requireAll: () => look(watched),
    /** Only the database and its log, which contain the writes. @throws LostFileError */
    requireWritten: () => look(written),
    /** Runs a checkpoint, which may shorten the database: meanwhile a shorter one is no fault. */
    async aroundCheckpoint(checkpoint: () => Promise<void>): Promise<void> {
      isCopying = true;
      try {
        await checkpoint();
      } finally {
        isCopying = false;
        least = { ...least, file: 0 };
      }
    },
  };
}

/** Watches only the lock of a folder. The returned function throws LostFileError if the lock is no longer in its place. */
export function watchLock(path: string): () => void {
  const lock = watchedFile(path, { isLog: false, isLock: true });
  return () => void requireInPlace(lock);
}

function watchedFile(path: string, kind: Pick<WatchedFile, "isLog" | "isLock">): WatchedFile {
  const { dev, ino } = statSync(path);
  return { path, dev, ino, ...kind };
}

/** Bytes before the first page of a log, and before the content of each (https://sqlite.org/fileformat2.html#walformat). */
const [logHeadBytes, pageHeadBytes] = [32, 24];

/**
 * The length that the log has at least, by its index, which every program that empties the log keeps up to date: whether it is initialized, the size of a page and the
 * number of pages, at bytes 12 to 19 (https://sqlite.org/walformat.html#the_wal_index_header). Infinity for an index that cannot be read.
 */
function bytesOfLog(index: string): number {
  const head = Buffer.alloc(20);
  const descriptor = openSync(index, "r");
  const isWhole = readSync(descriptor, head, 0, head.length, 0) === head.length && head[12] !== 0;
  closeSync(descriptor);
  if (!isWhole) return Infinity;
  const isLittle = endianness() === "LE";
  const pageBytes = isLittle ? head.readUInt16LE(14) : head.readUInt16BE(14);
  const pages = isLittle ? head.readUInt32LE(16) : head.readUInt32BE(16);
  return pages === 0 ? 0 : logHeadBytes + pages * (pageHeadBytes + (pageBytes === 1 ? 65_536 : pageBytes));
}

/** Returns the length of the file. @throws LostFileError */
function requireInPlace({ path, dev, ino, ...kind }: WatchedFile): number {
  let found;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new LostFileError(path, `made unreadable (${(error as NodeJS.ErrnoException).code})`, kind);
  }
  if (found?.ino !== ino || found.dev !== dev) throw new LostFileError(path, "removed or replaced", kind);
  return found.size;
}

/**
 * What the next process has to expect of the log, in a file beside the database: `needed` from the first commit on, because the log has changes that the
 * database lacks; `copied` if the log was lost but its changes are in the database, so that a log in its place is foreign. There is no such file
 * after a clean stop, and none beside a copy or a restored database.
 */
type LogState = "needed" | "copied" | undefined;

const stateFileOf = (file: string): string => `${file}-log`;

export function readLogState(file: string): LogState {
  const path = stateFileOf(file);
  if (!existsSync(path)) return undefined;
  return readFileSync(path, "utf8").trim() === "copied" ? "copied" : "needed";
}

export function saveLogState(file: string, state: LogState): void {
  if (state === undefined) rmSync(stateFileOf(file), { force: true });
  else writeDurablySync(stateFileOf(file), `${state}\n`);
}
