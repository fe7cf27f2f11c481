import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createEmpty } from "../platform/files.ts";
import { lockFile } from "../platform/lock.ts";
import { onInterruption } from "./interruption.ts";

/**
 * A new folder (mode 0700) for temporary files, which only this process uses. It has a lock that the system releases however the process
 * ends: a folder whose lock is free is a leftover of a killed process, and the next process that makes such a folder removes it.
 */
export type HeldFolder = { path: string; remove: () => void };

const lockName = "petstore.lock";
const attemptsMax = 10;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes a folder, and removes the leftovers beside it whose names have the same prefix. A signal that ends the command removes the folder. */
export function makeHeldFolder(parent: string, prefix: string): HeldFolder {
  clearLeftovers(parent, prefix);
  for (let attempt = 1; ; attempt++) {
    const path = join(parent, prefix + randomUUID());
    mkdirSync(path, { mode: 0o700 });
    try {
      createEmpty(join(path, lockName));
      const lock = lockIn(path);
      // another process may take a folder for a leftover before it is locked
      if (lock !== "held" && existsSync(join(path, lockName))) return held(path, lock);
      if (lock !== "held") lock?.close();
    } catch (error) {
      rmSync(path, { recursive: true, force: true });
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    if (attempt === attemptsMax) throw new Error(`${parent}: other processes remove each temporary folder`);
  }
}

function held(path: string, lock: DatabaseSync | undefined): HeldFolder {
  let isHeld = true;
  const remove = (): void => {
    if (!isHeld) return;
    isHeld = false;
    unregister();
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    lock?.close();
  };
  const unregister = onInterruption(remove);
  return { path, remove };
}

/** Locks a folder. Returns undefined on a file system without locks, where leftovers stay. */
function lockIn(folder: string): DatabaseSync | "held" | undefined {
  try {
    return lockFile(join(folder, lockName), 0);
  } catch {
    return undefined;
  }
}

function clearLeftovers(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix) || !uuid.test(name.slice(prefix.length))) continue;
    try {
      clearLeftover(join(parent, name));
    } catch {
      // another process removes it too, or it belongs to another user
    }
  }
}

function clearLeftover(folder: string): void {
  const stats = lstatSync(folder);
  if (!stats.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) return;
  if (!existsSync(join(folder, lockName))) return rmdirSync(folder); // fails unless it is empty
  const lock = lockIn(folder);
  if (lock === undefined || lock === "held") return;
  try {
    rmSync(folder, { recursive: true, force: true });
  } finally {
    lock.close();
  }
}
