import { commonOptions, type Command, type Option, type Options } from "./command.ts";
import { exitClasses } from "./exit-codes.ts";

export const overview = "Usage: petstore COMMAND [OPTIONS] [--json] [--help]";

/** The list of commands with their summaries. */
export function helpOnAll(commands: Command[]): string {
  const lines = table(commands.map(({ name, summary }) => [name, summary]));
  const codes = exitClasses.map(({ code, name, meaning }) => `    ${code}  ${name}: ${meaning}`);
  const more = "petstore help COMMAND explains a command and its options; petstore --version prints the version.";
  return [overview, "", ...lines, "", more, "", "Exit codes:", ...codes].join("\n");
}

/** A command's usage, summary and options. */
export function helpOn(command: Command): string {
  const options: Options = { ...command.options, ...commonOptions };
  const lines = table(Object.entries(options).map(([name, option]) => [spelled(name, option), option.about]));
  return [usageOf(command), "", `${command.summary}.`, "", ...lines].join("\n");
}

/** The usage of commands, one line each. */
export function usageOf(...some: Command[]): string {
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
