import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Problem } from "../platform/problem.ts";
import type { CsvFormat } from "./csv-format.ts";
import type { InputFile } from "./inspect.ts";

/** Opens a file; `chosen` is what is known of its format. @throws Problem `invalid_request` if it does not exist */
export async function openFile(file: string, chosen: Partial<CsvFormat> = {}): Promise<InputFile> {
  const size = await sizeOf(file);
  return { name: file, bytes: () => bytesOf(file), access: { size, read: (position, count) => readAt(file, position, count) }, chosen };
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.message);
    throw new Problem("invalid_request", `${file} cannot be read: ${why}.`);
  });
  if (!found.isFile()) throw new Problem("invalid_request", `${file} is not a file.`);
  return found.size;
}

/** Opens the file for each read, so that nobody has to close it. */
async function readAt(file: string, position: number, count: number): Promise<Uint8Array> {
  await using opened = await open(file);
  const { bytesRead, buffer } = await opened.read(Buffer.alloc(count), 0, count, position);
  return buffer.subarray(0, bytesRead);
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of createReadStream(file)) yield bytes as Buffer;
  } catch (error) {
    throw new Problem("invalid_request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
  }
}
