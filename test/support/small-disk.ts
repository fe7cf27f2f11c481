import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A disk in memory that a test can fill. Mounting it needs root on Linux, which CI has. */
export type SmallDisk = { path: string; fill(): void; empty(): void };

/** @param bytes its size */
export function mountSmallDisk(t: TestContext, bytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "petstore-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "tmpfs", path]);
  t.after(() => {
    execFileSync("umount", ["--lazy", path]); // a process that just ends may still use it
    rmdirSync(path);
  });
  const filler = join(path, "filler");
  return {
    path,
    fill() {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error; // what runs there wrote at the same time
      }
    },
    empty: () => rmSync(filler, { force: true }),
  };
}
