import { errorTable } from "../platform/error-table.ts";

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
