import { open } from "node:fs/promises";
import { writeDurably } from "../../platform/files.ts";
import type { MemoryLimiter } from "./memory.ts";

/** The file that keeps the state of a memory limiter across restarts. */
export type StateFile = {
  /** Restores the saved state. If the file is missing or damaged, restores what it can read. */
  load(): Promise<void>;
  /**
   * Saves the state, unless it has not changed since the last time. Saves never overlap: all calls during one share the
   * next. Each save replaces the whole file, so after a kill or a power cut the last complete file is there.
   */
  save(): Promise<void>;
};

/** @param path of the file. A save writes `path.new` first, then renames it. */
export function openStateFile(path: string, limiter: MemoryLimiter): StateFile {
  let savedChanges = limiter.changes();
  let saving = Promise.resolve();
  let waiting: Promise<void> | undefined;

  async function write(): Promise<void> {
    const changes = limiter.changes();
    if (changes === savedChanges) return;
    await writeDurably(path, limiter.snapshot());
    savedChanges = changes;
  }

  return {
    async load() {
      const file = await open(path).catch(() => undefined);
      if (file === undefined) return;
      const lines: string[] = [];
      for await (const line of file.readLines()) {
        lines.push(line);
        if (lines.length === 1_000) limiter.restore(lines.splice(0));
      }
      limiter.restore(lines);
    },
    save() {
      waiting ??= saving.then(() => {
        waiting = undefined;
        return write();
      });
      saving = waiting.catch(() => undefined);
      return waiting;
    },
  };
}
