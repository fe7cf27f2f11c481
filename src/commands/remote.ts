// The command line without the service: web/command.mjs bundles it for Node 20, with the commands that call a service by its API.
import { readFileSync } from "node:fs";
import type { Command } from "./command.ts";
import { completing } from "./completion.ts";
import { initialising } from "./init.ts";
import { endWithOutput } from "./output.ts";
import { runProgram } from "./program.ts";
import { remoteCommands } from "./remote-commands.ts";

endWithOutput(process);
const commands: Command[] = [initialising(), ...remoteCommands, completing(() => commands)];
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };
process.exitCode = await runProgram({ version, commands }, process.argv.slice(2), process);
