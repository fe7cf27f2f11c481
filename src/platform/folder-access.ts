import { accessSync, chmodSync, constants, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
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

/** The names of the service's own files in its data folder. */
const ownName = /^(petstore\..+|secrets\.key.*|limits\.state.*|before-upgrade-.*|first-sign-in.*|content|uploads)$/;
/** A folder with one of these is a data folder, so its mode may be changed. */
const marks = ["petstore.lock", "petstore.db"];

const forOthers = 0o077;
const writableByOthers = 0o022;

/**
 * Makes sure that no other user can change, replace or redirect files in the data folder: tightens the modes of the folder and its files, and
 * refuses links and files that another user may have put there. Windows has no such modes.
 *
 * @param user the id of the user who runs the service
 * @throws Error whose message is one line that names the path and what is wrong with it
 */
export function makePrivate(folder: string, user = process.getuid?.()): void {
  if (user === undefined) return;
  const stats = statSync(folder);
  requireOwner(`DATA_DIR=${folder}`, stats, [user, 0], user);
  const names = readdirSync(folder);
  closeToOthers(folder, stats, names, user);
  for (const name of names.filter((one) => ownName.test(one))) tighten(join(folder, name), [user, stats.uid], user);
}

/** Throws if there is a socket at a path that neither the folder's owner nor this user made. */
export function requireOwnSocket(path: string, user = process.getuid?.()): void {
  requireAccess(dirname(path));
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (user === undefined || stats === undefined) return;
  refuseLink(path, stats);
  requireOwner(path, stats, [user, statSync(dirname(path)).uid], user);
}

function closeToOthers(folder: string, { mode, uid }: Stats, names: string[], user: number): void {
  const others = uid === user ? writableByOthers : 0o002; // root may have given this service's group write access to a folder
  if ((mode & others) === 0) return;
  const isOurs = names.length === 0 || marks.some((mark) => names.includes(mark));
  if (uid !== user || !isOurs) {
    throw new Error(`DATA_DIR=${folder} can be written by other users (mode ${octal(mode)}): choose a folder for the service alone`);
  }
  chmodSync(folder, mode & 0o7777 & ~forOthers);
}

/** Runs when the folder is private already, so that nobody can change what it checks. */
function tighten(path: string, owners: number[], user: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  refuseLink(path, stats);
  refuseDevice(path, stats);
  requireOwner(path, stats, owners, user);
  if (stats.uid === user && (stats.mode & forOthers) !== 0 && !stats.isSocket()) chmodSync(path, stats.mode & 0o7777 & ~forOthers);
}

function refuseLink(path: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw new Error(`${path} is a symbolic link, which the service does not follow: replace it with its target`);
}

/** Checked first, because reading a pipe would wait for ever. */
function refuseDevice(path: string, stats: Stats): void {
  if (stats.isFile() || stats.isDirectory() || stats.isSocket()) return;
  throw new Error(`${path} is a pipe or a device, where the service needs a file: remove it`);
}

function requireOwner(path: string, { uid }: Stats, allowed: number[], user: number): void {
  if (allowed.includes(uid)) return;
  throw new Error(`${path} belongs to user ${uid}, and this process runs as user ${user}: run it as that user, or change the owner`);
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
