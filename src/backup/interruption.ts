import { constants } from "node:os";
import { Problem } from "../platform/problem.ts";
import { BackupError } from "./manifest.ts";

/** What ends a command early: a signal, a full disk, or a path that cannot be used. */

/** Signals that end a command. Unhandled, each would leave behind what the command has made so far. */
const ending = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
export type EndSignal = (typeof ending)[number];

const undos = new Set<() => void>();

/**
 * Registers a step that an interrupted command runs before it ends, such as removing a temporary copy. `undo` blocks, because nothing runs after it.
 *
 * @returns a function that ends the registration
 */
export function onInterruption(undo: () => void): () => void {
  undos.add(undo);
  return () => void undos.delete(undo);
}

/**
 * Runs a command. A signal that ends it first undoes what is registered; the exit code is 128 and the number of the signal.
 *
 * @param report prints that the command was stopped
 */
export async function interruptible<T>(report: (signal: EndSignal) => void, run: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals): never => {
    undoAll();
    report(signal as EndSignal);
    return process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ending) process.on(signal, end);
  try {
    return await run();
  } finally {
    for (const signal of ending) process.off(signal, end);
  }
}

function undoAll(): void {
  for (const undo of undos) {
    try {
      undo();
    } catch {
      // the others run all the same, and the next command removes what is left
    }
  }
}

const fullCodes = new Set(["ENOSPC", "EDQUOT", "EFBIG", "53100"]);
/** SQLITE_FULL, and SQLITE_IOERR_WRITE, which SQLite returns if a file may not grow. */
const fullSqliteCodes = new Set([13, 778]);

/** The system's errors about a path, in words. */
const pathFaults: Record<string, string> = {
  EACCES: "this user has no permission",
  EPERM: "this user has no permission",
  EROFS: "the file system is read-only",
  ENOENT: "it is not there",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EEXIST: "it exists already",
  ELOOP: "its symbolic links lead in a circle",
  ENAMETOOLONG: "the name is too long",
  EIO: "the disk fails",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};
/** SQLITE_PERM, SQLITE_READONLY and SQLITE_CANTOPEN. Their extended codes have these in the lowest byte. */
const closedSqliteCodes = new Set([3, 8, 14]);

type SystemError = { code?: string; errcode?: number; message?: string; path?: string; dest?: string; syscall?: string };

/**
 * Runs a step of a command. Turns a full disk, a path that cannot be used, or an error of the database server, into a BackupError with one
 * line.
 *
 * @param unchanged completes the line, such as `nothing was changed`
 * @param room completes the line of a full disk. Default: `unchanged`
 */
export async function withFaultsNamed<T>(unchanged: string, step: () => Promise<T>, room = unchanged): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const cause = (error instanceof Problem && error.cause instanceof Error ? error.cause : error) as SystemError;
    const { code = "", errcode = 0 } = cause;
    if (fullCodes.has(code) || fullSqliteCodes.has(errcode))
      throw new BackupError(`the disk has no room for more (${code || "SQLITE_FULL"}): ${room}`, { cause: error });
    const line = lineOf(cause);
    if (line !== undefined) throw new BackupError(`${line}: ${unchanged}`, { cause: error });
    if (cause === error) throw error;
    throw new BackupError(String(cause.message), { cause: error });
  }
}

function lineOf({ code = "", errcode = 0, message, path, dest, syscall }: SystemError): string | undefined {
  if (syscall !== undefined && path !== undefined) {
    const reason = pathFaults[code] ?? `the system refuses ${syscall}`;
    return `${dest ?? path} cannot be used (${code}): ${reason}`;
  }
  if (closedSqliteCodes.has(errcode & 0xff)) return `a database file cannot be opened or written (${message})`;
  return undefined;
}
