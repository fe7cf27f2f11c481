import { accountsCreate, accountsDelete, accountsList, accountsSetPlan } from "./commands/accounts.ts";
import { failure, readArguments, UsageError, type Command } from "./commands/command.ts";
import { deploying } from "./commands/deploy.ts";
import { description } from "./commands/description.ts";
import { domainCommands } from "./commands/domains.ts";
import { exporting } from "./commands/export.ts";
import { importing } from "./commands/import.ts";
import { initialising } from "./commands/init.ts";
import { keysCreate, keysList, keysRevoke, keysRotate, keysUnban } from "./commands/keys.ts";
import { membersInvite, membersList, membersRemove, membersReset } from "./commands/members.ts";
import { migrate } from "./commands/migrate.ts";
import { projectCommands } from "./commands/projects.ts";
import { serve } from "./commands/serve.ts";
import { settings } from "./commands/settings.ts";
import { loadSettings } from "./settings.ts";

/** Every command. What a command needs it imports when it runs, so that this list costs nothing. */
const commands: Command[] = [
  serve,
  accountsCreate,
  accountsList,
  accountsSetPlan,
  accountsDelete,
  keysCreate,
  keysList,
  keysRotate,
  keysRevoke,
  keysUnban,
  membersInvite,
  membersList,
  membersReset,
  membersRemove,
  importing(client),
  exporting(client),
  initialising(client),
  ...projectCommands(client),
  deploying(client),
  ...domainCommands(client),
  migrate,
  description,
  settings,
];

// A reader that has seen enough, as in `petstore settings | head -1`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await main(process.argv.slice(2));

/** The service and the key that the environment names for the commands that call the API. */
function client() {
  const { clientUrl, clientKey } = loadSettings();
  return { url: clientUrl, key: clientKey };
}

/** Gives the exit code: 0 done, 1 refused or failed, 2 a command line that cannot be read. */
async function main(args: string[]): Promise<number> {
  const words = args.slice(0, 2).join(" ");
  const command = commands.find(({ name }) => name === words) ?? commands.find(({ name }) => name === args[0]);
  if (!command) return helpOn(args);
  try {
    const read = readArguments(command, args.slice(command.name.split(" ").length));
    if (!read) return print(`${usageOf(command)}\n\n${command.summary}.`);
    return await run(command, read);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return misuse(error.message, usageOf(command), args);
  }
}

async function run(command: Command, args: NonNullable<ReturnType<typeof readArguments>>): Promise<number> {
  try {
    const outcome = await command.run(args);
    if (outcome) print(args.json ? JSON.stringify(outcome.json) : outcome.text);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const { code, message } = failure(error);
    process.stderr.write(args.json ? `${JSON.stringify({ code, message })}\n` : `petstore: ${message}\n`);
    return 1;
  }
}

/** Answers a line that names no command: with all of them if that was asked, else with those that it may have meant. */
function helpOn(args: string[]): number {
  const [first] = args;
  const overview = "Usage: petstore COMMAND [OPTIONS] [--json] [--help]";
  if (first === "--help" || first === "-h" || first === "help") {
    const width = Math.max(...commands.map(({ name }) => name.length));
    const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
    const more = "petstore COMMAND --help shows what a command takes.";
    return print([overview, "", ...lines, "", more].join("\n"));
  }
  const toAll = `${overview}\npetstore --help lists the commands.`;
  if (first === undefined) return misuse("a command is needed", toAll, args);
  const meant = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (meant.length === 0) return misuse(`there is no command ${JSON.stringify(first)}`, toAll, args);
  if (args[1] === "--help" || args[1] === "-h") return print(usageOf(...meant));
  return misuse(`there is no command ${JSON.stringify(args.slice(0, 2).join(" "))}`, usageOf(...meant), args);
}

function usageOf(...some: Command[]): string {
  return `Usage: ${some.map(({ name, usage }) => `petstore ${name} ${usage}`.trimEnd()).join("\n       ")}`;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function misuse(reason: string, usage: string, args: string[]): number {
  const json = JSON.stringify({ code: "usage", message: reason });
  process.stderr.write(args.includes("--json") ? `${json}\n` : `petstore: ${reason}\n${usage}\n`);
  return 2;
}
