import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ending } from "./process.ts";

/** A new folder, which is removed when the test ends. */
export function temporaryFolder(t: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })); // a process that just ends may still write
  return folder;
}
