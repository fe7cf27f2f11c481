import { open } from "node:fs/promises";
import { writeDurably } from "../../platform/files.ts";
import { coalesced } from "../../platform/jobs/runs.ts";
import type { MemoryLimiter } from "./memory.ts";

/** Keeps the state of a memory limiter across restarts. */
export type StateFile = {
  /** Restores the saved state. Skips damaged lines; a missing file restores nothing. */
  load(): Promise<void>;
  /**
   * Saves the state if it has changed since the last save. Saves never overlap: all calls during one save share the next.
   * Each save replaces the whole file atomically, so a kill or a power cut leaves the last complete file.
   */
  save(): Promise<void>;
};

/** @param path A save writes to `path.new`, then renames it to `path`. */
export function openStateFile(path: string, limiter: MemoryLimiter): StateFile {
  let savedChanges = limiter.changes();
  const { run: save } = coalesced(write);

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
    save,
  };
}
