import { rm } from "node:fs/promises";
import { writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";
import { formatRejects } from "./rejects.ts";
import type { Reject } from "./source.ts";

/** Writes the reject file atomically. @throws Problem `invalid_request` if it cannot */
export async function writeRejects(file: string, header: readonly string[], rejects: readonly Reject[]): Promise<void> {
  try {
    await writeDurably(file, formatRejects(header, rejects), 0o666);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Problem("invalid_request", `The reject file ${file} cannot be written (${code ?? message}).`);
  }
}

/** Deletes the reject file of an earlier run, which could be mistaken for this one's. */
export async function removeRejects(file: string): Promise<void> {
  await rm(file, { force: true });
}
