import { failure, readArguments, UsageError, type Arguments, type Command } from "./commands/command.ts";
import { argumentsOf, commandOf, commands } from "./commands/commands.ts";
import { helpOn, helpOnAll, overview, usageOf } from "./commands/help.ts";

// A reader that has seen enough, as in `petstore settings | head -1`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await main(process.argv.slice(2));

/** Gives the exit code: 0 done, 1 refused or failed, 2 a command line that cannot be read. */
async function main(args: string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === "help" || first === "--help" || first === "-h") {
    return rest[0] === undefined || rest[0].startsWith("-") ? print(helpOnAll(commands)) : main([...rest, "--help"]);
  }
  const command = commandOf(args);
  if (!command) return noCommand(args);
  try {
    const read = readArguments(command, argumentsOf(command, args));
    return read ? await run(command, read) : print(helpOn(command));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return misuse(error.message, usageOf(command), args);
  }
}

async function run(command: Command, args: Arguments): Promise<number> {
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

/** Answers a line that names no command with those that it may have meant. */
function noCommand(args: string[]): number {
  const [first, second] = args;
  const toAll = `${overview}\npetstore --help lists the commands.`;
  if (first === undefined) return misuse("a command is needed", toAll, args);
  const meant = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (meant.length === 0) return misuse(`there is no command ${JSON.stringify(first)}`, toAll, args);
  if (second === "--help" || second === "-h") return print(usageOf(...meant));
  return misuse(`there is no command ${JSON.stringify(args.slice(0, 2).join(" "))}`, usageOf(...meant), args);
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
