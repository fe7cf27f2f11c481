import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Problem } from "../platform/problem.ts";
import type { CsvFormat } from "./csv-format.ts";
import type { InputFile } from "./inspect.ts";

/** Opens a file; `chosen` is what is known of its format. @throws Problem `invalid_request` if it does not exist */
export async function openFile(file: string, chosen: Partial<CsvFormat> = {}): Promise<InputFile> {
  await checkIsFile(file);
  return { name: file, bytes: () => bytesOf(file), chosen };
}

async function checkIsFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.message);
    throw new Problem("invalid_request", `${file} cannot be read: ${why}.`);
  });
  if (!found.isFile()) throw new Problem("invalid_request", `${file} is not a file.`);
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of createReadStream(file)) yield bytes as Buffer;
  } catch (error) {
    throw new Problem("invalid_request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
  }
}
