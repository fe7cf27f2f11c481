import { open } from "node:fs/promises";
import { writeDurably } from "../../platform/files.ts";
import type { MemoryLimiter } from "./memory.ts";

/** Keeps a memory limiter across restarts in one file. */
export type StateFile = {
  /** Takes over what was saved; a missing, damaged or half-written file only means that less is remembered. */
  load(): Promise<void>;
  /**
   * Saves what is counted by now, unless nothing has changed since the last time. Calls do not overlap: those made
   * while one runs share the next. The file is replaced whole, so a kill or a power cut leaves the last complete one.
   */
  save(): Promise<void>;
};

/** @param path of the file; what is written before it is complete stands beside it as `path.new` */
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
