import {
  closeSync,
  constants,
  copyFileSync,
  createWriteStream,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  type WriteStream,
} from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes every file of the service except SQLite's own. A file appears under its name only when it is complete and on the disk: its
 * bytes are flushed under another name, then it is renamed, then its folder is flushed. No link is followed.
 */

/** Flags that open a new file, and fail if a file or a link has this name. */
const fresh = "wx";

/** Text or bytes, or the pieces of them in order. */
export type Content = string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * Replaces a file in one step: whenever the program or the machine stops, the path holds the complete old file or the complete new one. An
 * incomplete file stays beside it as `path.new`. Calls for one path must not overlap.
 *
 * @param mode of the file, less the umask. Default: 0600
 */
export async function writeDurably(path: string, content: Content, mode = 0o600): Promise<void> {
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  try {
    await writeNew(temporary, content, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first error matters more
    throw error;
  }
  await flushFolder(dirname(path));
}

/** Like `writeDurably`, but blocks. For the start, while nothing else runs. */
export function writeDurablySync(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  try {
    const descriptor = openSync(temporary, fresh, mode);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  flushFolderSync(dirname(path));
}

/** Writes and flushes a file that does not exist yet. Its name is on the disk once its folder is flushed. @throws EEXIST */
export async function writeNew(path: string, content: Content, mode = 0o600): Promise<void> {
  const file = await open(path, fresh, mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Creates an empty file (mode 0600). Does not open an existing file, because closing it would drop the process's POSIX locks
 * on it.
 */
export function createEmpty(path: string): void {
  try {
    closeSync(openSync(path, fresh, 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Whether a hard link failed because the file system has none, or not between these two places. */
function hasNoHardLink(error: unknown): boolean {
  return ["EPERM", "EXDEV", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** A time in the name of a file, as `20261122T143000Z`. */
export function timeInName(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/**
 * Gives the bytes of a file a second name, so that they stay when the first is removed. Copies them where the file system has no hard links.
 *
 * @throws ENOENT if there is no such file
 */
export function linkOrCopy(path: string, second: string): void {
  try {
    linkSync(path, second);
  } catch (error) {
    if (!hasNoHardLink(error)) throw error;
    copyFileSync(path, second, constants.COPYFILE_EXCL);
  }
}

/**
 * Writes a large file that does not exist yet, and flushes it a piece at a time, so that the flushes of other files do not have to wait for
 * all of it.
 *
 * @returns its size
 */
export async function writeSteadily(path: string, content: AsyncIterable<Uint8Array>, pieceBytes = 1 << 20): Promise<number> {
  const file = await open(path, fresh, 0o600);
  try {
    let [bytes, pending] = [0, 0];
    for await (const chunk of content) {
      await file.writeFile(chunk);
      bytes += chunk.length;
      pending += chunk.length;
      if (pending < pieceBytes) continue;
      await file.datasync();
      pending = 0;
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Gives a file or folder another name, which is on the disk once both folders are flushed. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await flushFolder(dirname(to));
  if (dirname(from) !== dirname(to)) await flushFolder(dirname(from));
}

/**
 * Gives a flushed file a name that must be free, and flushes its folder. On a file system without hard links there is a moment in which another
 * process can take the name.
 *
 * @throws EEXIST if the name is taken, even by a symbolic link that leads nowhere
 */
export async function placeNew(temporary: string, path: string): Promise<void> {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!hasNoHardLink(error)) throw error;
    if (lstatSync(path, { throwIfNoEntry: false })) throw Object.assign(new Error(`${path} exists`, { cause: error }), { code: "EEXIST" });
    renameSync(temporary, path);
  }
  await flushFolder(dirname(path));
}

/** Opens a stream into a new file, which `placeFile` flushes later. */
export function stagingStream(path: string): WriteStream {
  return createWriteStream(path, { flags: fresh, mode: 0o600 });
}

/** Flushes a staged file and gives it its final name, creating the folder. The name is on the disk once that folder is flushed. */
export async function placeFile(temporary: string, path: string): Promise<void> {
  await flushPath(temporary);
  await makeFolder(dirname(path));
  await rename(temporary, path);
}

/** Like `placeFile`, in a folder that exists, but blocks. The name is on the disk too. */
export function placeFileSync(temporary: string, path: string): void {
  flushPathSync(temporary);
  renameSync(temporary, path);
  flushFolderSync(dirname(path));
}

/** Creates a folder (mode 0700) with its parents, and flushes the names of those that were missing. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await flushFolder(dirname(made));
}

/** Resolves when the names in a folder are on the disk. Windows has no such call and needs none. */
export async function flushFolder(path: string): Promise<void> {
  if (process.platform !== "win32") await flushPath(path);
}

/** Resolves when the bytes of a file are on the disk. */
export async function flushFile(path: string): Promise<void> {
  await flushPath(path);
}

async function flushPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Like `flushFolder`, but blocks. */
function flushFolderSync(path: string): void {
  if (process.platform !== "win32") flushPathSync(path);
}

function flushPathSync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
