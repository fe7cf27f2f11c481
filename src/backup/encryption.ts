import { readFileSync, statSync } from "node:fs";
import type { Bytes } from "../platform/archives/archive-bytes.ts";
import { ArchiveError, BackupError } from "./manifest.ts";

/** The cost of a guess (the base-2 logarithm of scrypt's N): 128 MiB and half a second. */
const workFactor = 17;
/** The highest cost that a file may ask for, which is that of the program `age`: 256 MiB. */
const workFactorMax = 18;
/** How a file in the format of age begins, and the whole header of one that is encrypted with a passphrase. */
const ageBegins = "age-encryption.org/v1\n";
const passphraseHeader = /^age-encryption\.org\/v1\n-> scrypt [\w+/]{22} (\d{1,2})\n[\w+/]{43}\n--- [\w+/]{43}\n/;
const headerBytesMax = 300;

/** Encrypts with a passphrase in the format of age, so that `age -d` opens the result too. Each piece of 64 KiB is authenticated. */
export async function* encrypted(source: Bytes, passphrase: string): AsyncGenerator<Uint8Array> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  yield* await encrypter.encrypt(ReadableStream.from(source));
}

/**
 * Decrypts a backup if it is encrypted.
 *
 * @throws ArchiveError if the passphrase is missing, superfluous or wrong, or if a piece was changed or is absent
 */
export async function* decrypted(source: Bytes, passphrase: string | undefined): AsyncGenerator<Uint8Array> {
  const { first, all } = await peek(source);
  const isEncrypted = first.startsWith(ageBegins);
  if (!isEncrypted) {
    // otherwise somebody could replace the encrypted backup with another one unnoticed
    if (passphrase !== undefined) throw new ArchiveError("is not encrypted: leave out --passphrase-file if you trust it");
    yield* all;
    return;
  }
  if (passphrase === undefined) throw new ArchiveError("is encrypted: add --passphrase-file FILE");
  const [, factor] = passphraseHeader.exec(first) ?? [];
  if (factor === undefined || Number(factor) > workFactorMax)
    throw new ArchiveError(
      "cannot be decrypted: it is not encrypted with a passphrase as this program or age does, or it is damaged at its beginning",
    );
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  let plain: ReadableStream<Uint8Array>;
  try {
    plain = await decrypter.decrypt(ReadableStream.from(all));
  } catch (cause) {
    throw new ArchiveError("cannot be decrypted: the passphrase is wrong, or the file is damaged at its beginning", { cause });
  }
  try {
    yield* plain;
  } catch (cause) {
    throw new ArchiveError("is damaged or incomplete: a piece cannot be decrypted", { cause });
  }
}

/** Reads how a source begins. Returns the beginning, and a source that has all bytes. */
async function peek(source: Bytes): Promise<{ first: string; all: AsyncGenerator<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
  let first: Uint8Array = Buffer.alloc(0);
  let isOver = false;
  while (first.length < headerBytesMax && !isOver) {
    const step = await iterator.next();
    if (step.done) isOver = true;
    else first = Buffer.concat([first, step.value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield first;
      for (let step = isOver ? undefined : await iterator.next(); step && !step.done; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { first: Buffer.from(first.subarray(0, headerBytesMax)).toString("latin1"), all: all() };
}

const passphraseBytesMax = 1_024;

/** Reads a passphrase: the first line of a file. @throws BackupError */
export function readPassphrase(path: string): string {
  let text: string;
  try {
    if (!statSync(path).isFile()) throw new BackupError(`--passphrase-file: ${path} is not a file`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`--passphrase-file: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
  return passphraseIn(text, path);
}

/** The passphrase in the text of a file or of standard input. @throws BackupError */
export function passphraseIn(text: string, place: string): string {
  const [passphrase = "", ...rest] = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (passphrase === "" || rest.length > 0 || Buffer.byteLength(passphrase) > passphraseBytesMax) {
    throw new BackupError(`--passphrase-file: ${place} must hold one line, of at most ${passphraseBytesMax} bytes`);
  }
  return passphrase;
}
