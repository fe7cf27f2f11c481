import type { PetStore } from "../../client/client.ts";
import { Problem } from "../platform/problem.ts";
import type { Io, Options } from "./command.ts";

/** The service to call and the key to call it with; the key is empty where none is set. */
export type Connect = { url: string; key: string };

/** The service and the key that the environment names. */
export type Environment = (io: Io) => Connect;

export const connectionOptions = {
  url: { value: "URL", about: "the service to call, in place of PETSTORE_URL" },
  key: { value: "KEY", about: "the key to call it with, in place of PETSTORE_KEY; other users of the machine can see arguments" },
} as const satisfies Options;

/** The service and key that a command calls with: its options, else the environment. Raises `invalid_request` where there is no key. */
export function connectionOf(options: Record<string, unknown>, environment: Connect): Connect {
  const given = options as { url?: string; key?: string };
  const url = given.url ?? environment.url;
  const key = (given.key ?? environment.key).trim();
  if (key === "") throw new Problem("invalid_request", "a key is needed: set PETSTORE_KEY, or give --key KEY");
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Problem("invalid_request", "the key holds characters that no key has");
  return { url, key };
}

/**
 * Opens a caller of the service that keeps to its limits. Whoever waits is told why and how long.
 *
 * @param tell takes a line, such as `linesTo` writes
 */
export async function connect(connection: Connect, tell: (line: string) => void): Promise<PetStore> {
  const { openClient } = await import("../../client/client.ts");
  const onWait = (reason: string, ms: number): void => tell(`Waiting ${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s: ${reason}.`);
  return openClient({ ...connection, onWait });
}

/** Writes each line to standard error. */
export function linesTo({ stderr }: Io): (line: string) => void {
  return (line) => void stderr.write(`${line}\n`);
}
