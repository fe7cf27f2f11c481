import { Writable } from "node:stream";
import { didYouMean, failure, readArguments, UsageError, type Arguments, type Command, type Io } from "./command.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { helpOn, helpOnAll, overview, usageOf } from "./help.ts";

/** The command line of a program: its version and its commands. */
export type Program = { version: string; commands: Command[] };

/** Runs the command that the arguments name. Returns the exit code, as exit-codes.ts lists them. */
export async function runProgram(program: Program, args: string[], io: Io): Promise<number> {
  const { version, commands } = program;
  const [first, ...rest] = args;
  const isJson = args.includes("--json");
  if (first === "--version" || first === "-v") return print(io, isJson ? JSON.stringify({ version }) : `petstore ${version}`);
  if (first === "help" || first === "--help" || first === "-h") {
    const isOnAll = rest[0] === undefined || rest[0].startsWith("-");
    if (!isOnAll) return runProgram(program, [...rest, "--help"], io);
    return print(io, isJson ? JSON.stringify({ commands: commands.map(summaryOf) }) : helpOnAll(commands));
  }
  const command = commandOf(commands, args);
  if (!command) return noCommand(commands, args, io);
  try {
    const read = readArguments(command, argumentsOf(command, args));
    if (read) return await run(command, read, io);
    return print(io, isJson ? JSON.stringify(summaryOf(command)) : helpOn(command));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return misuse(io, error.message, usageOf(command), args);
  }
}

async function run(command: Command, args: Arguments, io: Io): Promise<number> {
  try {
    const outcome = await command.run(args, args.json ? withoutNotes(io) : io);
    if (outcome) print(io, args.json ? JSON.stringify(outcome.json) : outcome.text);
    return outcome?.exitCode ?? 0;
  } catch (error) {
    if (error instanceof UsageError) throw error; // a rule between arguments, which the command checks
    const { code, message } = failure(error);
    io.stderr.write(args.json ? `${JSON.stringify({ code, message })}\n` : `petstore: ${message}\n`);
    return exitCodeOf(code);
  }
}

/** With `--json` a command prints no notes, so that standard error holds an error's object or nothing. */
function withoutNotes({ env, stdin, stdout }: Io): Io {
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  return { ...(env && { env }), stdin, stdout, stderr };
}

function summaryOf(command: Command): { name: string; summary: string; usage: string } {
  return { name: command.name, summary: command.summary, usage: usageOf(command).replace("Usage: ", "") };
}

/** The command that the arguments begin with; undefined if there is none. */
export function commandOf(commands: Command[], args: string[]): Command | undefined {
  const words = args.slice(0, 2).join(" ");
  return commands.find(({ name }) => name === words) ?? commands.find(({ name }) => name === args[0]);
}

/** The arguments after a command's name. */
export function argumentsOf({ name }: Command, args: string[]): string[] {
  return args.slice(name.split(" ").length);
}

/** Reports that a line names no command, with the commands that it may have meant. */
function noCommand(commands: Command[], args: string[], io: Io): number {
  const [first, second] = args;
  const names = commands.map(({ name }) => name);
  const toAll = `${overview}\npetstore --help lists the commands.`;
  if (first === undefined) return misuse(io, "a command is needed", toAll, args);
  const meant = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (meant.length === 0) {
    const suggestion =
      didYouMean([first, second].join(" ").trim(), names) ||
      didYouMean(
        first,
        names.map((name) => name.split(" ")[0]!),
      );
    return misuse(io, `there is no command ${JSON.stringify(first)}${suggestion}`, toAll, args);
  }
  if (second === "--help" || second === "-h") return print(io, usageOf(...meant));
  const typed = args.slice(0, 2).join(" ");
  return misuse(io, `there is no command ${JSON.stringify(typed)}${didYouMean(typed, names)}`, usageOf(...meant), args);
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
