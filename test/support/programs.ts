import assert from "node:assert/strict";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";

/** Where a program is; undefined where it cannot be installed: on Debian, root has every one. */
export function pathOf(t: TestContext, program: string): string | undefined {
  const found = programNamed([program]);
  if (found === undefined) {
    t.diagnostic(`${program} is not installed: its recipe is not checked`);
    assert.ok(process.getuid?.() !== 0 || !existsSync("/etc/debian_version"), `${program} is missing: run npm run check`);
  }
  return found;
}

const searched = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];

/** Returns the first of these programs that the folders have. Default: the PATH, and a folder beside it. */
export function programNamed(names: readonly string[], folders: readonly string[] = searched): string | undefined {
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
