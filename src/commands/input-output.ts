import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";
import type { Io } from "./command.ts";

const lineCharactersMax = 4_096;

/** Returns the first line of standard input. At a terminal, asks for it and does not show what is typed. @throws Problem if there is none */
export async function firstLine({ stdin, stderr }: Io, question: string): Promise<string> {
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) stderr.write(question);
  stdin.setRawMode?.(isTerminal);
  try {
    let text = "";
    for await (const chunk of stdin.setEncoding("utf8")) {
      for (const character of String(chunk)) {
        if (character === "\u0003") throw new Problem("invalid_request", "cancelled");
        if (character === "\r" || character === "\n" || character === "\u0004") return text;
        text = character === "\u007f" ? text.slice(0, -1) : text + character;
      }
      if (text.length > lineCharactersMax) throw new Problem("invalid_request", "the line on standard input is too long");
    }
    if (text === "") throw new Problem("invalid_request", "standard input is empty");
    return text;
  } finally {
    stdin.setRawMode?.(false);
    if (isTerminal) stderr.write("\n");
  }
}

/** The passphrase of `--passphrase-file`, which `-` reads from standard input; undefined without the option. @throws BackupError */
export async function givenPassphrase(io: Io, given: unknown, from: string): Promise<string | undefined> {
  if (typeof given !== "string") return undefined;
  const { passphraseIn, readPassphrase } = await import("../backup/encryption.ts");
  return given === "-" ? passphraseIn(await firstLine(io, "Passphrase: "), "standard input") : readPassphrase(resolve(from, given));
}

/** Returns standard input. @throws Problem `payload_too_large` beyond `bytesMax` */
export async function allBytes({ stdin }: Io, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk as Uint8Array);
    bytes += piece.length;
    if (bytes > bytesMax) throw new Problem("payload_too_large", `standard input is over ${bytesMax / 1_048_576} MiB.`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks);
}

/** Calls `work` with the path of a file: `path` itself, or for `-` a copy of standard input, which is deleted afterwards. */
export async function withInputFile<R>({ stdin }: Io, path: string, work: (path: string) => Promise<R>): Promise<R> {
  if (path !== "-") return work(path);
  const folder = await mkdtemp(join(tmpdir(), "petstore-"));
  try {
    const copy = join(folder, "standard-input");
    await pipeline(stdin, createWriteStream(copy, { mode: 0o600 }));
    return await work(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the file under another name and renames it when it is complete. @throws Problem `invalid_request` if it cannot be written */
export async function toFile(text: Readable, file: string, mode = 0o666): Promise<void> {
  try {
    await writeDurably(file, text, mode);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) throw new Problem("invalid_request", `${file} cannot be written (${code}).`);
    throw error;
  }
}
