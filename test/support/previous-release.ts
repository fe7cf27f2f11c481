import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The commits of the releases, as CHANGELOG.md names them. */
const commits = { "1.0.0": "a74acbf", "1.1.0": "49db246", "1.2.0": "f5d0dcc" };
export type Release = keyof typeof commits;

/** The releases whose nodes work beside those of this version. */
export const previousReleases: Release[] = ["1.1.0", "1.2.0"];

/**
 * Extracts the code of a release from the repository's history, beside the packages of this checkout, and returns its `src/main.ts`.
 * The next run finds it in the same place: Node's compile cache knows a file by its path.
 *
 * @throws if the clone has no history
 */
export function checkOut(version: Release): string {
  const commit = commits[version];
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
  try {
    renameSync(whole, folder); // a run that is killed before leaves no half of it there
  } catch (error) {
    if (!existsSync(main)) throw error;
    rmSync(whole, { recursive: true }); // another process was faster
  }
  return main;
}
