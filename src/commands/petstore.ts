import { failure, readArguments, UsageError, type Arguments, type Command, type Io } from "./command.ts";
import { argumentsOf, commandOf, commands } from "./commands.ts";
import { helpOn, helpOnAll, overview, usageOf } from "./help.ts";

/**
 * Runs the command that the arguments name.
 *
 * Returns the exit code: 0 done, 1 refused or failed, 2 a command line that cannot be read.
 */
export async function petstore(args: string[], io: Io): Promise<number> {
  const [first, ...rest] = args;
  if (first === "help" || first === "--help" || first === "-h") {
    return rest[0] === undefined || rest[0].startsWith("-") ? print(io, helpOnAll(commands)) : petstore([...rest, "--help"], io);
  }
  const command = commandOf(args);
  if (!command) return noCommand(args, io);
  try {
    const read = readArguments(command, argumentsOf(command, args));
    return read ? await run(command, read, io) : print(io, helpOn(command));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return misuse(io, error.message, usageOf(command), args);
  }
}

async function run(command: Command, args: Arguments, io: Io): Promise<number> {
  try {
    const outcome = await command.run(args, io);
    if (outcome) print(io, args.json ? JSON.stringify(outcome.json) : outcome.text);
    return outcome?.exitCode ?? 0;
  } catch (error) {
    const { code, message } = failure(error);
    io.stderr.write(args.json ? `${JSON.stringify({ code, message })}\n` : `petstore: ${message}\n`);
    return 1;
  }
}

/** Answers a line that names no command with those that it may have meant. */
function noCommand(args: string[], io: Io): number {
  const [first, second] = args;
  const toAll = `${overview}\npetstore --help lists the commands.`;
  if (first === undefined) return misuse(io, "a command is needed", toAll, args);
  const meant = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (meant.length === 0) return misuse(io, `there is no command ${JSON.stringify(first)}`, toAll, args);
  if (second === "--help" || second === "-h") return print(io, usageOf(...meant));
  return misuse(io, `there is no command ${JSON.stringify(args.slice(0, 2).join(" "))}`, usageOf(...meant), args);
}

function print(io: Io, text: string): number {
  io.stdout.write(`${text}\n`);
  return 0;
}

function misuse(io: Io, reason: string, usage: string, args: string[]): number {
  const json = JSON.stringify({ code: "usage", message: reason });
  io.stderr.write(args.includes("--json") ? `${json}\n` : `petstore: ${reason}\n${usage}\n`);
  return 2;
}
