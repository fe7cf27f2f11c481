import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Ended } from "./commands.ts";
import { programNamed } from "./programs.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const npmMsMax = 180_000;

/** Waits for a process, with what it wrote. */
export async function run(child: ChildProcess): Promise<Ended> {
  const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  const [code, out, error] = await Promise.all([ended, text(child.stdout!), text(child.stderr!)]);
  return { code, out, error };
}

/** Packs a folder of the project and installs the tarball, without a network, into an empty project. Returns its folder. */
export async function installPackage(folder: string): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "petstore-project-"));
  await npm(root, "pack", folder, "--pack-destination", project);
  const [tarball = ""] = readdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  await npm(project, "install", "--offline", "--no-audit", "--no-fund", join(project, tarball));
  return project;
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  // The scripts of npm's own run would be found by the name of the command.
  const env = { ...process.env, npm_config_loglevel: "error", npm_config_update_notifier: "false" };
  const { code, error } = await run(spawn("npm", args, { cwd, env, timeout: npmMsMax, stdio: ["ignore", "pipe", "pipe"] }));
  assert.equal(code, 0, `npm ${args.join(" ")}: ${error}`);
}

/** The Nodes of the system, beside the pinned one that npm installed and that runs the tests. */
export function otherNodes(): string[] {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const node = programNamed(["node"], path);
  if (node === undefined || realpathSync(node) === realpathSync(process.execPath)) return [];
  const major = Number.parseInt(spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8", timeout: 10_000 }).stdout);
  return major >= 20 ? [node] : [];
}
