import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "../../src/publishing/projects/deployments.ts";
import type { Project } from "../../src/publishing/projects/projects.ts";
import { runCommand, type Ended } from "./commands.ts";
import { newDatabase } from "./postgres.ts";
import { engine, secretsKey, type TestService } from "./service.ts";
import { made } from "./shop.ts";
import { packSite } from "./sites.ts";

/** The settings of a service that uses this folder, on the engine of the run. */
export async function settingsOf(dataDir: string): Promise<Record<string, string>> {
  if (engine === "sqlite") return { DATA_DIR: dataDir };
  return { DATA_DIR: dataDir, DATABASE_URL: (await newDatabase(dataDir)).url, SECRETS_KEY: secretsKey };
}

/** Runs a command that must succeed, and returns what it printed as JSON. */
export async function done<T = Record<string, unknown>>(env: Record<string, string>, ...words: string[]): Promise<T> {
  const { code, out, error } = await runCommand([...words, "--json"], env);
  assert.equal(code, 0, `${words.join(" ")}: ${out}${error}`);
  return JSON.parse(out) as T;
}

/** Runs a command that must be refused in one line that matches. */
export async function refused(env: Record<string, string>, reason: RegExp, ...words: string[]): Promise<Ended> {
  const ended = await runCommand(words, env);
  assert.ok([1, 2].includes(ended.code), `${words.join(" ")}: ${ended.out}`);
  assert.match(ended.error, /^petstore: [^\n]+\n$/, "one line");
  assert.match(ended.error, reason);
  return ended;
}

/** All files in a folder, by path, to compare with a later state. */
export function contentsOf(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name)).toString("base64")]),
  );
}

/** Publishes files as a project's live deployment. */
export async function publish(service: TestService, slug: string, files: Record<string, string>): Promise<Project> {
  const project = await made<Project>(service, "POST", "/projects", { name: slug, slug });
  const body = await packSite({ ...files, "petstore.json": "{}" });
  await service.ask<Deployment>("POST", `/projects/${project.id}/deployments`, { body, headers: { "content-type": "application/gzip" } });
  await service.publishing.idle();
  return project;
}
