import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import { PetStoreError } from "../../client/errors.ts";
import { causeOf } from "../platform/causes.ts";
import { Problem } from "../platform/problem.ts";
import { nearest } from "../platform/typo.ts";

/** The result of a command: prints `json` with `--json`, else `text`. */
export type Outcome = {
  json: object;
  text: string;
  /** Default: 0. */
  exitCode?: number;
};

/** Where a command reads its settings and writes its output. */
export type Io = {
  /** Default: the environment of the process. */
  env?: Record<string, string | undefined>;
  /** A terminal also has `setRawMode`, which shows nothing that is typed. */
  stdin: Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };
  stdout: Writable;
  /** A terminal also has `columns`, its width. */
  stderr: Writable & { isTTY?: boolean; columns?: number };
};

export type Arguments = {
  /** The options by name: a string, a list of strings if the option can be repeated, or true. */
  options: Record<string, string | boolean | (string | boolean)[] | undefined>;
  /** The positional arguments: all that the command declares, less optional ones that were not given. */
  operands: string[];
  json: boolean;
};

/** An option, for parsing, usage and help. */
export type Option = {
  /** The placeholder of its value, such as `FILE`. Without it, the option is a switch. */
  value?: string;
  about: string;
  required?: true;
  /** Can be repeated. */
  multiple?: true;
  /** One letter that stands for the name: `-f`. */
  short?: string;
};
export type Options = Readonly<Record<string, Option>>;

export type Command = {
  /** One or two words, such as `accounts create`. */
  name: string;
  summary: string;
  options?: Options;
  /** Names of the positional arguments. One in brackets, such as `[FILE]`, may be left out; none follows it. */
  operands?: string[];
  /** Runs the command. Returns nothing if it prints its own output. */
  run(args: Arguments, io: Io): Promise<Outcome | undefined>;
};

/** Invalid arguments on the command line. */
export class UsageError extends Error {}

/** The switch of commands that create something by name, so that a script can run twice. */
export const ifNotExists = {
  "if-not-exists": { about: "if it exists already, change nothing and succeed; with --json, the field created says which" },
} as const satisfies Options;

/** The options of every command. */
export const commonOptions = {
  json: { about: "print the result as one JSON object, and an error as one on standard error" },
  help: { about: "explain the command and its options", short: "h" },
} as const satisfies Options;

/**
 * Parses the arguments after a command's name. Returns undefined if they ask for help.
 *
 * @throws UsageError
 */
export function readArguments(command: Command, args: string[]): Arguments | undefined {
  const { values, positionals } = parse(args, { ...command.options, ...commonOptions });
  if (values["help"]) return undefined;
  for (const [name, { required }] of Object.entries(command.options ?? {})) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is required`);
  }
  const expected = command.operands ?? [];
  const next = expected[positionals.length];
  if (next !== undefined && !next.startsWith("[")) throw new UsageError(`${next} is required`);
  if (positionals.length > expected.length) throw new UsageError(`unexpected argument ${JSON.stringify(positionals[expected.length])}`);
  return { options: values, operands: positionals, json: values["json"] === true };
}

function parse(args: string[], options: Options) {
  const forms = Object.entries(options).map(([name, { value, multiple = false, short }]) => {
    const type: "boolean" | "string" = value === undefined ? "boolean" : "string";
    return [name, { type, multiple, ...(short !== undefined && { short }) }] as const;
  });
  try {
    return parseArgs({ args: withDashedValues(args, options), options: Object.fromEntries(forms), allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS")) throw error;
    const [reason = ""] = (error as Error).message.split(". ");
    const [, unknown] = /^Unknown option '--([^']*)'/.exec(reason) ?? [];
    throw new UsageError(unknown === undefined ? reason : `${reason}${didYouMean(unknown, Object.keys(options), "--")}`);
  }
}

/** Joins an option with its value where that begins with a dash, as in `--delta -1` and `--sort -id`, which `parseArgs` refuses. */
function withDashedValues(args: readonly string[], options: Options): string[] {
  const shorts = new Set(Object.values(options).map(({ short }) => short));
  const joined: string[] = [];
  for (const arg of args) {
    const option = joined.at(-1) ?? "";
    const takesValue = option.startsWith("--") && options[option.slice(2)]?.value !== undefined;
    if (takesValue && /^-[^-]/.test(arg) && !shorts.has(arg[1])) joined[joined.length - 1] = `${option}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** Asks whether one of the names was meant: those that differ by a typing error, or by their end. Empty if none does. */
export function didYouMean(typed: string, names: readonly string[], before = ""): string {
  const isBegun = (name: string): boolean => typed.length > 2 && (name.startsWith(typed) || typed.startsWith(name));
  const meant =
    (typed.length > 3
      ? nearest(
          typed,
          names.filter((name) => name.length > 3),
        )
      : undefined) ?? names.find(isBegun);
  return meant === undefined ? "" : `: did you mean ${before}${meant}?`;
}

/** Parses a number. Returns any other text unchanged, so that the operation refuses it by the field's name. */
export function numeric(text: unknown): unknown {
  return typeof text === "string" && /^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** A count with its noun: "1 row", "2 rows". */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats rows as aligned columns with a heading. */
export function columns(heading: string[], rows: (string | number | null)[][]): string {
  const lines = [heading, ...rows.map((row) => row.map((cell) => (cell === null ? "-" : String(cell))))];
  const widths = heading.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** An error as commands print it: one line, with `--json` one object. */
export function errorLine(isJson: boolean, { code, message }: { code: string; message: string }): string {
  return isJson ? `${JSON.stringify({ code, message })}\n` : `petstore: ${message}\n`;
}

/** The error code and message to print for what a command threw. */
export function failure(raised: unknown): { code: string; message: string } {
  const error = causeOf(raised).cause;
  if (error instanceof Problem || error instanceof PetStoreError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: "internal", message: String(error) };
  const lines = error.message.split("\n").map((line) => line.trim());
  return { code: "internal", message: lines.filter((line) => line !== "").join(" ") };
}

type Stoppable = {
  json: boolean;
  /** What is true after a failure, such as `nothing was changed`. */
  failed: string;
  /** What is true after a signal. Default: the same. */
  stopped?: string;
};

/**
 * Runs a command that makes temporary files. A signal removes them and ends the process with 128 and its number; a full disk or a path that
 * cannot be used becomes one line.
 */
export async function stoppable<T>({ stderr }: Io, { json, failed, stopped = failed }: Stoppable, run: () => Promise<T>): Promise<T> {
  const { interruptible, withFaultsNamed } = await import("../backup/interruption.ts");
  const report = (signal: string): void =>
    void stderr.write(errorLine(json, { code: "interrupted", message: `stopped by ${signal}: ${stopped}` }));
  return interruptible(report, () => withFaultsNamed(failed, run));
}
