import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The release whose nodes work beside those of this version. */
export const previousRelease = { version: "1.1.0", commit: "49db246" };

/**
 * Extracts the previous release's code from the repository's history, beside the packages of this checkout, and returns its `src/main.ts`.
 * The next run finds it in the same place: Node's compile cache knows a file by its path.
 *
 * @throws if the clone has no history
 */
export function checkOutPrevious(): string {
  const { version, commit } = previousRelease;
  const folder = join(root, ".cache", `release-${commit}`);
  const main = join(folder, "src", "main.ts");
  if (existsSync(main)) return main;
  const archive = spawnSync("git", ["-C", root, "archive", commit], { maxBuffer: 1 << 28 });
  if (archive.status !== 0) {
    throw new Error(
      `release ${version} (commit ${commit}) is not in the history of this clone, and this test runs it: clone the whole repository, ` +
        `or run \`git fetch --unshallow\`; git says: ${String(archive.stderr).trim()}`,
    );
  }
  mkdirSync(join(root, ".cache"), { recursive: true });
  const whole = mkdtempSync(`${folder}-`);
  execFileSync("tar", ["-x", "-C", whole], { input: archive.stdout });
  symlinkSync(join(root, "node_modules"), join(whole, "node_modules"));
  renameSync(whole, folder); // a run that is killed before leaves no half of it there
  return main;
}
