import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommand, type Ended } from "./commands.ts";
import { inherited } from "./process.ts";

export const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** A data folder, and commands that are run on it. */
export function openShell(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), "petstore-"));
  t.after(() => rmSync(parent, { recursive: true }));
  const dataDir = join(parent, "data");

  const petstore = (args: string[], env: Record<string, string> = {}): Promise<Ended> => runCommand(args, { ...env, DATA_DIR: dataDir });

  /** Runs the command in a process of its own. */
  async function spawned(...args: string[]): Promise<Ended> {
    const child = spawn(process.execPath, [main, ...args], {
      env: { ...inherited(), DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise<number>((resolve) => child.on("close", resolve));
    const [code, out, error] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, out, error };
  }

  async function json<T>(...args: string[]): Promise<T> {
    const { code, out, error } = await petstore([...args, "--json"]);
    assert.equal(code, 0, error);
    assert.match(out, /^\{.*\}\n$/);
    return JSON.parse(out) as T;
  }
  return { dataDir, petstore, spawned, json };
}
