import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { until } from "./until.ts";

/**
 * A disk as a power cut leaves it, from a recording (strace) of what processes wrote and flushed: of each file the pages that a flush
 * kept, and no other. A flush that failed leaves its pages clean in the system's cache, as Linux does: no later one writes them. Names are
 * on the disk at once, which leaves a file that was renamed before it was flushed empty.
 */
export type Disk = {
  /** Applies the recording of a process that has ended. */
  replay(recording: string): Promise<void>;
  /** Writes what is on the disk into a new folder. */
  image(folder: string): void;
};

const pageBytes = 4096;
const calls = "pwrite64,write,fdatasync,fsync,ftruncate,rename,unlink";

/**
 * The command that runs another one and records its writes. The process that is started is the recorded one itself.
 *
 * @param failedFlush which `fdatasync` of a thread fails; with one thread in the pool that is the database's log
 */
export function recorded(recording: string, failedFlush?: number): { command: string[]; env: Record<string, string> } {
  const failing = failedFlush === undefined ? [] : ["-e", `inject=fdatasync:error=EIO:when=${failedFlush}`];
  const command = [
    "strace",
    "-D",
    "-f",
    "--seccomp-bpf",
    "-o",
    recording,
    "-y",
    "-xx",
    "-s",
    "4194304",
    "-e",
    `trace=${calls}`,
    ...failing,
  ];
  return { command, env: { UV_THREADPOOL_SIZE: "1" } };
}

type File = { cache: Buffer; disk: Buffer; dirty: Set<number> };

/** @param folder whose files are followed; the others are not */
export function openDisk(folder: string): Disk {
  const files = new Map<string, File>();

  function fileAt(path: string): File | undefined {
    if (!path.startsWith(`${folder}/`)) return undefined;
    const file = files.get(path) ?? { cache: Buffer.alloc(0), disk: Buffer.alloc(0), dirty: new Set() };
    files.set(path, file);
    return file;
  }

  function rename(from: string, to: string): void {
    const file = files.get(from);
    if (!file) return;
    files.delete(from);
    files.set(to, file);
  }

  function apply(line: string): void {
    const [, call = "", args = ""] = /^\d+ +(\w+)\((.*)$/s.exec(line) ?? [];
    const fails = / = -1 E/.test(line);
    const [first = "", second = ""] = Array.from(args.matchAll(/"([^"]*)"/g), ([, text]) => text);
    const file = fileAt(decoded(/^\d+<([^>]*)>/.exec(args)?.[1] ?? "").toString());
    const number = Number(/, (\d+)(?:\)| <unfinished)/.exec(args)?.[1]);
    if (call === "fdatasync" || call === "fsync") return flush(file, fails);
    if (fails) return;
    if (call === "pwrite64") write(file, decoded(first), number);
    if (call === "write") write(file, decoded(first), file?.cache.length ?? 0); // the service's own files are written once, from their begin
    if (call === "ftruncate") truncate(file, number);
    if (call === "rename") rename(decoded(first).toString(), decoded(second).toString());
    if (call === "unlink") files.delete(decoded(first).toString());
  }

  return {
    async replay(recording) {
      await until(async () => /\n?(\d+) +\+\+\+[^\n]*\n$/.test(readFileSync(recording, "latin1")));
      for (const line of whole(readFileSync(recording, "latin1"))) apply(line);
    },
    image(to) {
      for (const [path, { disk }] of files) {
        const name = relative(folder, path);
        if (name.endsWith("-shm")) continue; // SQLite rebuilds it when the database is next opened
        mkdirSync(dirname(join(to, name)), { recursive: true, mode: 0o700 });
        writeFileSync(join(to, name), disk, { mode: 0o600 });
      }
    },
  };
}

function write(file: File | undefined, bytes: Buffer, at: number): void {
  if (!file || bytes.length === 0) return;
  file.cache = grown(file.cache, at + bytes.length);
  bytes.copy(file.cache, at);
  for (let page = Math.floor(at / pageBytes); page * pageBytes < at + bytes.length; page++) file.dirty.add(page);
}

/** Pages that are dirty when a flush begins are on the disk when it ends, unless it fails. */
function flush(file: File | undefined, fails: boolean): void {
  if (!file) return;
  const pages = [...file.dirty];
  file.dirty.clear();
  if (fails) return;
  file.disk = grown(file.disk, file.cache.length);
  for (const page of pages) file.cache.copy(file.disk, page * pageBytes, page * pageBytes, (page + 1) * pageBytes);
}

function truncate(file: File | undefined, bytes: number): void {
  if (!file) return;
  file.cache = grown(file.cache, bytes).subarray(0, bytes);
  file.disk = file.disk.subarray(0, bytes);
}

/** The lines of a recording in the order in which the calls began, each joined with its end if another thread's line came between. */
function whole(text: string): string[] {
  const lines: string[] = [];
  const open = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [thread = ""] = line.split(" ", 1);
    const resumed = /^\d+ +<\.\.\. \w+ resumed>(.*)$/.exec(line);
    const began = open.get(thread);
    if (resumed && began !== undefined) lines[began] = `${lines[began]}${resumed[1]}`;
    else if (line.includes("<unfinished ...>")) open.set(thread, lines.push(line) - 1);
    else lines.push(line);
  }
  return lines;
}

/** Text that is written as `\x61`. */
function decoded(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

/** Has room for twice as much as it needs, because a file grows page by page. */
function grown(bytes: Buffer, length: number): Buffer {
  if (length <= bytes.length) return bytes;
  if (length <= bytes.buffer.byteLength) return Buffer.from(bytes.buffer, 0, length).fill(0, bytes.length);
  const longer = Buffer.alloc(2 * length).subarray(0, length);
  bytes.copy(longer);
  return longer;
}
