import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypescript, { astToString, type OpenAPI3 } from "openapi-typescript";
import type { Document } from "./description.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export type GeneratedClients = {
  folder: string;
  /** Checks all files of the folder. Returns what the compiler says, which is nothing if they are right. */
  compile: () => Promise<string>;
  remove: () => Promise<void>;
};

/**
 * Generates a client by `openapi-typescript` and one by `@hey-api/openapi-ts`, in a new folder beside a copy of the calls of
 * `test/generated-clients/`. The folder is inside the project, where `openapi-fetch` is found.
 */
export async function generateClients(description: Document): Promise<GeneratedClients> {
  await mkdir(join(root, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(root, ".cache", "generated-clients-"));
  await cp(join(root, "test", "generated-clients"), folder, { recursive: true });
  const types = await openapiTypescript(structuredClone(description) as unknown as OpenAPI3);
  await writeFile(join(folder, "paths.ts"), astToString(types));
  await createClient({
    input: structuredClone(description) as unknown as Record<string, unknown>,
    output: { path: join(folder, "hey-api"), module: { extension: ".ts" } },
    logs: { level: "silent" },
  });
  await trustRuntime(join(folder, "hey-api"));
  return {
    folder,
    compile: () => compile(folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Exempts the runtime that `@hey-api/openapi-ts` copies beside every client: it does not compile with
 * `exactOptionalPropertyTypes`, whatever the description says. The files that it makes from the description are checked.
 */
async function trustRuntime(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const copied = entries.filter((entry) => entry.isFile() && /[/\\](client|core)$/.test(entry.parentPath));
  for (const { parentPath, name } of copied) {
    const path = join(parentPath, name);
    // Not our code: the generator copies these files from itself, the same for every description.
    await writeFile(path, `// @ts-nocheck\n${await readFile(path, "utf8")}`);
  }
}

function compile(folder: string): Promise<string> {
  const compiler = join(root, "node_modules", "@typescript", "native", "bin", "tsc");
  return new Promise((done) => {
    execFile(process.execPath, [compiler, "-p", folder], (error, out, said) => done(error ? `${out}${said}` : out));
  });
}
