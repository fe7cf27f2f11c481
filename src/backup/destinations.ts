import { readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timeInName } from "../platform/files.ts";
import { makeHeldFolder } from "./held-folder.ts";
import { BackupError } from "./manifest.ts";
import { openS3, parseS3, type S3Settings, type S3Store } from "./s3.ts";

/** The folder or store of `--to`, in which the command names backups by their time. */
export type Destination = {
  /** Writes a backup: `write` makes a checked file at a path. Returns where the backup is. */
  put(name: string, write: (path: string) => Promise<void>): Promise<string>;
  /** Removes backups of this command that are older than the one just `made`, so that `keep` are left. Returns their names. */
  prune(made: string, keep: number): Promise<string[]>;
};

const temporaryPrefix = "petstore-temporary-";

/** @param folder the absolute path that `to` means if it is no `s3://` URL */
export async function openDestination(to: string, folder: string, settings: S3Settings): Promise<Destination> {
  if (!isUrl(to)) return openFolder(folder);
  const place = parseS3(to);
  if (place === undefined) throw new BackupError(`--to ${withoutPassword(to)} is neither a folder nor s3://bucket/prefix`);
  const store = await openS3(place, settings);
  await store.names(); // fails before the work begins if the store refuses
  return toStore(store, to.replace(/\/$/, ""));
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}

function openFolder(folder: string): Destination {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw new BackupError(`--to: there is no folder ${folder}`);
  return {
    async put(name, write) {
      await write(join(folder, name));
      return join(folder, name);
    },
    async prune(made, keep) {
      const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
      const names = expired(
        files.map(({ name }) => name),
        made,
        keep,
      );
      for (const name of names) rmSync(join(folder, name));
      return names;
    },
  };
}

function toStore(store: S3Store, url: string): Destination {
  return {
    async put(name, write) {
      const folder = makeHeldFolder(tmpdir(), temporaryPrefix);
      try {
        await write(join(folder.path, name));
        await store.upload(name, join(folder.path, name));
        return `${url}/${name}`;
      } finally {
        folder.remove();
      }
    },
    async prune(made, keep) {
      const names = expired(await store.names(), made, keep);
      for (const name of names) await store.remove(name);
      return names;
    },
  };
}

/** Calls `use` with the path of a backup. Fetches a backup of an `s3://` URL into a temporary folder first. */
export async function withLocal<T>(file: string, path: string, settings: () => S3Settings, use: (path: string) => Promise<T>): Promise<T> {
  if (!isUrl(file)) return use(path);
  const place = parseS3(file);
  const [, folderOf = "", name = ""] = /^(.*\/)?([^/]+)\/$/.exec(place?.prefix ?? "") ?? [];
  if (place === undefined || name === "") throw new BackupError(`${withoutPassword(file)} is neither a file nor s3://bucket/prefix/name`);
  const store = await openS3({ ...place, prefix: folderOf }, settings());
  const folder = makeHeldFolder(tmpdir(), temporaryPrefix);
  try {
    await store.download(name, join(folder.path, name));
    return await use(join(folder.path, name));
  } finally {
    folder.remove();
  }
}

/** The name that `--to` gives a backup: by time, so that names sort by age. */
const ownName = /^petstore-\d{8}T\d{6}Z\.tar\.gz(\.age)?$/;

export function backupName(now: number, isEncrypted: boolean): string {
  return `petstore-${timeInName(now)}.tar.gz${isEncrypted ? ".age" : ""}`;
}

/**
 * Returns the backups of this command to remove, so that `keep` are left: the one just made, and the newest before it. Ignores all other names,
 * and backups with a later time than the one just made, from when the clock was ahead.
 */
function expired(names: readonly string[], made: string, keep: number): string[] {
  const older = names.filter((name) => ownName.test(name) && name < made).toSorted();
  return older.slice(0, Math.max(0, older.length + 1 - keep));
}
