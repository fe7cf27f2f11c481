import { readFileSync } from "node:fs";
import type { Io } from "./command.ts";
import { commands } from "./commands.ts";
import { runProgram } from "./program.ts";

/** Runs a command of the service. Returns its exit code. */
export function petstore(args: string[], io: Io): Promise<number> {
  return runProgram({ version: versionOf(new URL("../../package.json", import.meta.url)), commands }, args, io);
}

function versionOf(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
