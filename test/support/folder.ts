import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ending } from "./process.ts";

/** A new folder, which is removed when the test ends, after all that the test opened later: what works in the folder must have stopped. */
export function temporaryFolder(t: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }); // a process that just ends may still write
  t.after(() => t.after(remove)); // the first function that is given runs first
  return folder;
}
