import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export type Ended = { code: number; out: string; error: string };
/** Where a service keeps its data, where it answers, and a key of the account that calls it. */
export type Operated = { dataDir: string; address: string; key: string };

/** Runs `petstore` beside a running service, as its operator does: on its data folder, with a key of its own account. */
export function petstore({ dataDir, address, key }: Operated, ...words: string[]): Promise<Ended> {
  const env = { PATH: process.env["PATH"], DATA_DIR: dataDir, PETSTORE_URL: address, PETSTORE_KEY: key };
  return new Promise((done) => {
    execFile(process.execPath, [main, ...words], { env }, (error, out, said) => {
      done({ code: error ? Number(error.code) : 0, out, error: said });
    });
  });
}
