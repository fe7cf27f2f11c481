import type { Readable } from "node:stream";
import { writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";

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
