import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system in memory, which Linux has. */
const memory = "/dev/shm";
/** What a run may write there at once, and what the machine must have left for it. */
const roomBytes = 4 * 2 ** 30;

/**
 * Makes the folder in which all that a run writes is kept, and removes it as this process ends. It is in memory where that has room:
 * tests create, write and sync very many files, and none of them cuts the power.
 */
export function makeRunFolder(): string {
  const folder = makeOpenFolder(suits(memory) ? memory : tmpdir());
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** Makes a folder that other users can pass through: PostgreSQL, which has a user of its own, must reach its folder below this one. */
export function makeOpenFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, "petstore-"));
  chmodSync(folder, 0o711);
  return folder;
}

/** Whether a folder has room, and runs programs: tests write some, and containers often forbid it there. */
function suits(parent: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < roomBytes || process.availableMemory() < 2 * roomBytes) return false;
    const folder = mkdtempSync(join(parent, "petstore-"));
    try {
      const program = join(folder, "program");
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
      return spawnSync(program).status === 0;
    } finally {
      rmSync(folder, { recursive: true });
    }
  } catch {
    return false;
  }
}
