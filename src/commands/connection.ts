import type { PetStore } from "../../client/client.ts";
import { Problem } from "../platform/problem.ts";
import type { Io, Options } from "./command.ts";

/** The service to call and the key to use; the key is empty if none is set. */
export type Connect = { url: string; key: string };

/** The service and key from the environment. */
export type Environment = (io: Io) => Connect;

export const connectionOptions = {
  url: { value: "URL", about: "the address of the service. Default: PETSTORE_URL" },
  key: {
    value: "KEY",
    about: "the key to use. Default: PETSTORE_KEY, which is safer, because other users of the machine can see arguments",
  },
} as const satisfies Options;

/** The service and key of a command: its options, else the environment. @throws Problem `invalid_request` if there is no key */
export function connectionOf(options: Record<string, unknown>, environment: Connect): Connect {
  const given = options as { url?: string; key?: string };
  const url = given.url ?? environment.url;
  const key = (given.key ?? environment.key).trim();
  if (key === "") throw new Problem("invalid_request", "no key is set: set PETSTORE_KEY or add --key KEY");
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Problem("invalid_request", "the key contains invalid characters");
  return { url, key };
}

/**
 * Creates a client of the service that waits for its limits and reports each wait.
 *
 * @param tell prints a line, as `linesTo` does
 */
export async function connect(connection: Connect, tell: (line: string) => void): Promise<PetStore> {
  const { openClient } = await import("../../client/client.ts");
  const onWait = (reason: string, ms: number): void => tell(`Waiting ${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s: ${reason}.`);
  return openClient({ ...connection, onWait });
}

/** Returns a function that writes lines to standard error. */
export function linesTo({ stderr }: Io): (line: string) => void {
  return (line) => void stderr.write(`${line}\n`);
}
