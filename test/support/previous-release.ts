import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./folder.ts";
import type { Ending } from "./process.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The release whose nodes work beside those of this version. */
export const previousRelease = { version: "1.1.0", commit: "49db246" };

/**
 * Extracts the previous release's code from the repository's history, beside the packages of this checkout, and returns its `src/main.ts`.
 *
 * @throws if the clone has no history
 */
export function checkOutPrevious(t: Ending): string {
  const { version, commit } = previousRelease;
  const git = (...args: string[]) => spawnSync("git", ["-C", root, ...args], { maxBuffer: 1 << 28 });
  const archive = git("archive", commit);
  if (archive.status !== 0) {
    throw new Error(
      `release ${version} (commit ${commit}) is not in the history of this clone, and this test runs it: clone the whole repository, ` +
        `or run \`git fetch --unshallow\`; git says: ${String(archive.stderr).trim()}`,
    );
  }
  const folder = join(temporaryFolder(t), "release");
  mkdirSync(folder);
  execFileSync("tar", ["-x", "-C", folder], { input: archive.stdout });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return join(folder, "src", "main.ts");
}
