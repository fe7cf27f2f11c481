import { Writable } from "node:stream";
import { errorTable } from "../platform/error-table.ts";
import {
  commonOptions,
  didYouMean,
  errorLine,
  failure,
  readArguments,
  UsageError,
  type Arguments,
  type Command,
  type Io,
  type Option,
  type Options,
} from "./command.ts";

/** The command line of a program: its version and its commands. */
export type Program = { version: string; commands: Command[] };

/** Runs the command that the arguments name. Returns the exit code, one of `exitClasses`. */
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
    const failed = failure(error);
    io.stderr.write(errorLine(args.json, failed));
    return exitCodeOf(failed.code);
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

const overview = "Usage: petstore COMMAND [OPTIONS] [--json] [--help]";

/** The list of commands with their summaries. */
function helpOnAll(commands: Command[]): string {
  const lines = table(commands.map(({ name, summary }) => [name, summary]));
  const codes = exitClasses.map(({ code, name, meaning }) => `    ${code}  ${name}: ${meaning}`);
  const more = "petstore help COMMAND explains a command and its options; petstore --version prints the version.";
  return [overview, "", ...lines, "", more, "", "Exit codes:", ...codes].join("\n");
}

/** A command's usage, summary and options. */
function helpOn(command: Command): string {
  const options: Options = { ...command.options, ...commonOptions };
  const lines = table(Object.entries(options).map(([name, option]) => [spelled(name, option), option.about]));
  return [usageOf(command), "", `${command.summary}.`, "", ...lines].join("\n");
}

/** The usage of commands, one line each. */
function usageOf(...some: Command[]): string {
  const lines = some.map(({ name, operands = [], options = {} }) => {
    const words = Object.entries(options).map(([option, form]) => {
      const word = form.required ? spelled(option, form) : `[${spelled(option, form)}]`;
      return form.multiple ? `${word}…` : word;
    });
    return ["petstore", name, ...operands, ...words].join(" ");
  });
  return `Usage: ${lines.join("\n       ")}`;
}

function spelled(name: string, { value, short }: Option): string {
  const names = short === undefined || short === "h" ? `--${name}` : `-${short}, --${name}`;
  return value === undefined ? names : `${names} ${value}`;
}

function table(rows: [left: string, right: string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

/** The exit codes of all commands. The error table says which one each error has. */
export const exitClasses = [
  { code: 0, name: "done", meaning: "the command did what it was asked" },
  { code: 1, name: "failed", meaning: "it failed for another reason, a setting is wrong, or a check found a fault" },
  { code: 2, name: "usage", meaning: "the command line, a value or a file is wrong; nothing was changed" },
  { code: 3, name: "not found", meaning: "what the command names does not exist" },
  { code: 4, name: "refused", meaning: "a rule forbids it as things stand, such as a name that is taken or a plan's storage that is full" },
  { code: 5, name: "no access", meaning: "the key is wrong, revoked or lacks a scope" },
  { code: 6, name: "unavailable", meaning: "the service cannot be reached, or is too busy" },
  { code: 7, name: "limited", meaning: "the account is over its limits, or the key is banned" },
] as const;

const exits = new Map<string, string>(Object.entries(errorTable).map(([code, { exit }]) => [code, exit]));

/** The exit code for the code of an error. Default: 1. */
export function exitCodeOf(code: string): number {
  const name = exits.get(code);
  return exitClasses.find((one) => one.name === name)?.code ?? 1;
}
