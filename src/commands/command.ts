import type { Writable } from "node:stream";
import { parseArgs } from "node:util";
import { causeOf } from "../platform/causes.ts";
import { Problem } from "../platform/problem.ts";

/** What a command found out: `json` is printed with `--json`, else `text`. */
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
  stdout: Writable;
  /** A terminal also says how wide it is. */
  stderr: Writable & { isTTY?: boolean; columns?: number };
};

export type Arguments = {
  /** The options by name: text, a list of texts where it may be repeated, or true. */
  options: Record<string, string | boolean | (string | boolean)[] | undefined>;
  /** The arguments that are not options, as many as the command declares. */
  operands: string[];
  json: boolean;
};

/** An option as it is read, shown in the usage and explained by the help. */
export type Option = {
  /** What its value is called, as `FILE`; one without is a switch. */
  value?: string;
  about: string;
  required?: true;
  /** May be given several times. */
  multiple?: true;
};
export type Options = Readonly<Record<string, Option>>;

export type Command = {
  /** One or two words, as `accounts create`. */
  name: string;
  summary: string;
  options?: Options;
  /** Names of the arguments that are not options; all are needed. */
  operands?: string[];
  /** Resolves when the command has done its work; one that prints its own output returns nothing. */
  run(args: Arguments, io: Io): Promise<Outcome | undefined>;
};

/** The command line is not one that the command takes. */
export class UsageError extends Error {}

/** What every command takes. */
export const commonOptions = {
  json: { about: "print one JSON object" },
  help: { about: "explain the command and its options" },
} as const satisfies Options;

/**
 * Reads what follows a command's name; undefined asks for help.
 *
 * @throws UsageError
 */
export function readArguments(command: Command, args: string[]): Arguments | undefined {
  const { values, positionals } = parse(args, { ...command.options, ...commonOptions });
  if (values["help"]) return undefined;
  for (const [name, { required }] of Object.entries(command.options ?? {})) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is needed`);
  }
  const expected = command.operands ?? [];
  if (positionals.length < expected.length) throw new UsageError(`${expected[positionals.length]} is needed`);
  if (positionals.length > expected.length) throw new UsageError(`unexpected argument ${JSON.stringify(positionals[expected.length])}`);
  return { options: values, operands: positionals, json: values["json"] === true };
}

function parse(args: string[], options: Options) {
  const forms = Object.entries(options).map(([name, { value, multiple = false }]) => {
    const type: "boolean" | "string" = value === undefined ? "boolean" : "string";
    return [name, { type, multiple, ...(name === "help" && { short: "h" }) }] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(forms), allowPositionals: true, strict: true });
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS")) throw new UsageError((error as Error).message.split(". ")[0]);
    throw error;
  }
}

/** A number as it is written, or the text itself, which the operation then refuses by the field's name. */
export function numeric(text: unknown): unknown {
  return typeof text === "string" && /^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Rows as columns of text, with a heading. */
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

/** Ends a process: the line for people and the object for programs. */
export function failure(raised: unknown): { code: string; message: string } {
  const error = causeOf(raised).cause;
  if (error instanceof Problem) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: "internal", message: String(error) };
  const lines = error.message.split("\n").map((line) => line.trim());
  return { code: "internal", message: lines.filter((line) => line !== "").join(" ") };
}
