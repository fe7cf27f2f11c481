import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { attempt } from "./parse.ts";

const rights = [
  { right: constants.R_OK, verb: "read" },
  { right: constants.W_OK, verb: "write in" },
  { right: constants.X_OK, verb: "enter" },
];

/**
 * Makes sure that this process may use a data folder, if it exists.
 *
 * @param toWrite whether it may write there too. Default: true
 * @throws Error whose message is one line that names the folder, the user and what the user may not do
 */
export function requireAccess(folder: string, { toWrite = true } = {}): void {
  const code = codeOf(() => statSync(folder));
  if (code === "EACCES") throw new Error(`DATA_DIR=${folder} cannot be used: ${thisUser()} may not enter ${closedAbove(folder)}`);
  if (code !== undefined || !statSync(folder).isDirectory()) return;
  const refusals = rights.flatMap(({ right, verb }) => {
    if (right === constants.W_OK && !toWrite) return [];
    const refusal = codeOf(() => accessSync(folder, right));
    return refusal === undefined ? [] : [{ refusal, verb }];
  });
  if (refusals.length === 0) return;
  if (refusals.some(({ refusal }) => refusal === "EROFS"))
    throw new Error(`DATA_DIR=${folder} cannot be used: its disk is mounted read-only`);
  const { uid, mode } = statSync(folder);
  const may = refusals.map(({ verb }) => verb).join(", ");
  const owner = `it belongs to user ${uid}, mode ${(mode & 0o7777).toString(8).padStart(4, "0")}`;
  throw new Error(`DATA_DIR=${folder} cannot be used: ${thisUser()} may not ${may} it; ${owner}`);
}

/** Why a folder cannot be made in another one, for the end of a line; empty if the reason is neither rights nor a read-only disk. */
export function whyNotMade(parent: string, code: string): string {
  if (code === "EROFS") return `: the disk of ${parent} is mounted read-only`;
  return code === "EACCES" || code === "EPERM" ? `: ${thisUser()} may not write in ${parent}` : "";
}

/** `user 998 (petstore)`; a process may have a number without a name, as in a container. */
function thisUser(): string {
  const name = attempt(() => userInfo().username);
  return `user ${process.getuid?.() ?? ""}${name === undefined ? "" : ` (${name})`}`;
}

/** The uppermost folder on the way that this user may not enter. */
function closedAbove(folder: string): string {
  const parent = dirname(folder);
  return parent !== folder && codeOf(() => statSync(parent)) === "EACCES" ? closedAbove(parent) : parent;
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
