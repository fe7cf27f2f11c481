import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { petstore as run } from "../../src/commands/commands.ts";

/** What a command wrote, and its exit code. */
export type Ended = { code: number; out: string; error: string };
/** A running service: its data folder, its address, and a key of the account that calls it. */
export type Operated = { dataDir: string; address: string; key: string };

/** Runs `petstore` in this process, with `env` as its whole environment. */
export async function runCommand(words: string[], env: Record<string, string>, input: string | Buffer = "", isTTY = false): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY })];
  const written = Promise.all([text(stdout), text(stderr)]);
  const code = await run(words, { env, stdin: Readable.from([Buffer.from(input)]), stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, error] = await written;
  return { code, out, error };
}

/** Runs `petstore` as the operator of a running service does: on its data folder, with a key of the operator's own account. */
export function petstore({ dataDir, address, key }: Operated, ...words: string[]): Promise<Ended> {
  return runCommand(words, { DATA_DIR: dataDir, PETSTORE_URL: address, PETSTORE_KEY: key });
}
