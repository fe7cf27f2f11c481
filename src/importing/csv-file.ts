import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Problem } from "../platform/problem.ts";
import { detectFormat, type CsvFormat } from "./csv-format.ts";
import { csvRows, type CsvRow } from "./csv.ts";
import type { InputFile } from "./inspect.ts";

/** Detects a file's encoding and delimiter. @throws Problem `invalid_request`, as `detectFormat` does, and if the file does not exist */
export async function formatOf(file: string): Promise<CsvFormat> {
  await checkIsFile(file);
  return detectFormat(bytesOf(file), file);
}

/** Opens a file. @throws Problem `invalid_request` if it does not exist */
export async function openFile(file: string): Promise<InputFile> {
  await checkIsFile(file);
  return { name: file, bytes: () => bytesOf(file) };
}

/** Yields the rows of a file, as `csvRows` does. Default format: the one that is detected. @throws Problem `invalid_request` */
export async function* readCsv(file: string, format?: CsvFormat): AsyncGenerator<CsvRow> {
  yield* csvRows(bytesOf(file), file, format ?? (await formatOf(file)));
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
