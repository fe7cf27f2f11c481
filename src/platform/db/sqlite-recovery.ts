import { closeSync, copyFileSync, fdatasyncSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { readLogState, saveLogState } from "./sqlite-files.ts";

/** Acknowledged transactions in the log cannot be read. The message is one line: which log, how many transactions, what to do. */
export class DamagedLogError extends Error {
  constructor(path: string, { validBytes, lostCommits }: LogScan) {
    super(
      `${path} is damaged at byte ${validBytes}: at least ${lostCommits} acknowledged transactions cannot be read. ` +
        "Restore the folder from a backup, or go on without them: `npm run petstore -- repair --yes`",
    );
    this.name = "DamagedLogError";
  }
}

/** The log that the last process needed is not there, or has nothing in it. The message is one line. */
class LostLogError extends Error {
  constructor(path: string) {
    super(
      `${path} is gone: the last process did not stop cleanly, and its newest changes were in that file, ` +
        "unless another program, such as sqlite3, has opened the database since and copied them into it. " +
        "Put the file back, restore the folder from a backup, or go on with what the database has: `npm run petstore -- repair --yes`",
    );
    this.name = "LostLogError";
  }
}

/** The path of the copy that is kept of a damaged log. */
export function damagedLogPath(file: string): string {
  return `${file}-wal.damaged`;
}

const chunkBytes = 1 << 20;

/**
 * Makes the log that a process left behind durable, before anything is read from it or added to it. After a failed flush its pages may be
 * only in the system's cache, marked as clean, so that no further flush would write them. So this rewrites every byte, in place because a
 * backup may be reading the database. After a clean stop there is no log, and nothing to do.
 *
 * Cuts off the transaction that a kill or a power cut left unfinished, which SQLite would not recover, so that its frames cannot be
 * mistaken for later ones.
 *
 * @param file path of the database
 * @param cutDamaged also cuts off acknowledged transactions, and keeps a copy of the log at `damagedLogPath`; goes on without a log that is gone
 * @returns how many acknowledged transactions are lost, at least, and whether the whole log is gone
 * @throws DamagedLogError, LostLogError unless `cutDamaged` is set
 */
export function recoverLog(file: string, { cutDamaged = false } = {}): { lost: number; isGone: boolean } {
  const path = `${file}-wal`;
  const state = readLogState(file);
  if (state === "copied") setAside(file);
  const log = openIfThere(path);
  try {
    const scan = log === undefined ? { validBytes: 0, lostCommits: 0 } : scanLog(log);
    const isGone = state === "needed" && scan.validBytes === 0 && scan.lostCommits === 0;
    if (isGone && !cutDamaged) throw new LostLogError(path);
    if (scan.lostCommits > 0 && !cutDamaged) throw new DamagedLogError(path, scan);
    if (scan.lostCommits > 0) copyFileSync(path, damagedLogPath(file));
    if (log !== undefined) makeDurable(log, path, scan.validBytes);
    if (isGone) saveLogState(file, undefined);
    return { lost: scan.lostCommits, isGone };
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

/** Renames a log whose changes were copied into the database before it was lost: a log in its place does not belong to the database. */
function setAside(file: string): void {
  try {
    renameSync(`${file}-wal`, damagedLogPath(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  saveLogState(file, undefined);
}

function makeDurable(log: number, path: string, bytes: number): void {
  rewrite(log, bytes);
  ftruncateSync(log, bytes);
  flush(log, path);
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function rewrite(log: number, bytes: number): void {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; at < bytes;) {
    const length = readSync(log, chunk, 0, Math.min(chunkBytes, bytes - at), at);
    if (length === 0) throw new Error("the log became shorter while it was read");
    for (let written = 0; written < length;) written += writeSync(log, chunk, written, length - written, at + written);
    at += length;
  }
}

function flush(log: number, path: string): void {
  try {
    fdatasyncSync(log);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be made durable (${code}): the disk fails to keep what is written to it`, { cause: error });
  }
}

/** What a log holds (https://sqlite.org/fileformat2.html#the_write_ahead_log). */
type LogScan = {
  /** Bytes up to the end of the last transaction that SQLite would recover; 0 if it would recover nothing. */
  validBytes: number;
  /** At least this many acknowledged transactions lie beyond these bytes. If it is not 0, the log is damaged. */
  lostCommits: number;
};

const headerBytes = 32;
const frameHeaderBytes = 24;
/** The first four bytes of a log: one of two values, which gives the byte order of the checksums. */
const magicLittleEndian = 0x377f0682;
const magicBigEndian = 0x377f0683;
/** The page size that SQLite gives a new database: assumed if the log's header is not valid. */
const pageBytesDefault = 4096;

type Sums = [number, number];
type Header = { valid: boolean; pageBytes: number; littleEndian: boolean; sums: Sums; salt: Buffer | undefined };

/**
 * Reads a log as SQLite's recovery does, which stops at the first wrong checksum and drops the rest silently. That is right for a
 * transaction that a kill or a power cut left unfinished: the service flushes each before it begins the next, so at most the last one can
 * be torn. It is wrong for a log that was damaged on the disk. The frames after the first bad one show which it is: each frame's checksum
 * continues the one before it, so whole frames of this log can be recognised, and a second transaction among them proves that the bad one
 * had been acknowledged.
 *
 * @param descriptor of the open log
 */
function scanLog(descriptor: number): LogScan {
  const header = readHeader(descriptor);
  const frame = Buffer.alloc(frameHeaderBytes + header.pageBytes);
  let sums = header.sums;
  let salt = header.salt;
  let broken = !header.valid;
  let validBytes = header.valid ? headerBytes : 0;
  let commits = 0;
  for (let at = headerBytes; readSync(descriptor, frame, 0, frame.length, at) === frame.length; at += frame.length) {
    salt ??= Buffer.from(frame.subarray(8, 16));
    const isOfThisLog = frame.compare(salt, 0, 8, 8, 16) === 0;
    const next = frameSums(frame, sums, header.littleEndian);
    const isWhole = isOfThisLog && next[0] === frame.readUInt32BE(16) && next[1] === frame.readUInt32BE(20);
    const isCommit = frame.readUInt32BE(4) !== 0;
    const wasBroken = broken;
    broken ||= !isWhole;
    if (!broken && isCommit) validBytes = at + frame.length;
    // The first bad frame may be torn and still end a transaction: if its header says so, it counts with the frames
    // behind it.
    if (broken && isCommit && (isWhole || (!wasBroken && isOfThisLog))) commits += 1;
    sums = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
  }
  // The header is on the disk before the first frame is written: if the header is bad, one transaction is proof
  // enough.
  const proof = header.valid ? 2 : 1;
  return { validBytes, lostCommits: commits >= proof ? commits : 0 };
}

function readHeader(descriptor: number): Header {
  const bytes = Buffer.alloc(headerBytes);
  readSync(descriptor, bytes, 0, headerBytes, 0);
  const magic = bytes.readUInt32BE(0);
  const littleEndian = magic !== magicBigEndian;
  const sums: Sums = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  const [first, second] = added([0, 0], bytes, 0, 24, littleEndian);
  const isLog = magic === magicLittleEndian || magic === magicBigEndian;
  if (isLog && first === sums[0] && second === sums[1]) {
    return { valid: true, pageBytes: bytes.readUInt32BE(8), littleEndian, sums, salt: bytes.subarray(16, 24) };
  }
  return { valid: false, pageBytes: pageBytesDefault, littleEndian, sums, salt: undefined };
}

/** The checksum of a frame: over the first 8 bytes of its header and its page, continued from the frame before. */
function frameSums(frame: Buffer, before: Sums, littleEndian: boolean): Sums {
  return added(added(before, frame, 0, 8, littleEndian), frame, frameHeaderBytes, frame.length, littleEndian);
}

function added([first, second]: Sums, bytes: Buffer, from: number, to: number, littleEndian: boolean): Sums {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [a, b] = [first, second];
  for (let at = from; at < to; at += 8) {
    a = (a + view.getUint32(at, littleEndian) + b) | 0;
    b = (b + view.getUint32(at + 4, littleEndian) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}
