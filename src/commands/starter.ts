import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../platform/problem.ts";

/** What is filled in where a template says `{{name}}`, `{{url}}`, `{{key}}`. */
type Filling = { name: string; url: string; key: string };

const templates = new URL("../../starter/", import.meta.url);

/** Refuses a folder that is there and holds something; hidden files, which are not deployed, do not count. Raises `invalid_request`. */
export async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Problem("invalid_request", `${folder} cannot be used (${error.code ?? error.message})`);
  });
  const [first] = names.filter((name) => !name.startsWith(".")).toSorted();
  if (first !== undefined) throw new Problem("invalid_request", `${join(folder, first)} is there already: give a new or empty folder`);
}

/** Writes the starter into a folder, which is made if absent, and gives the names of its files. Overwrites nothing. */
export async function writeStarter(folder: string, filling: Filling): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const projectFile = `${JSON.stringify({ name: filling.name, domains: {} }, undefined, 2)}\n`;
  await writeFile(join(folder, "petstore.json"), projectFile, { flag: "wx" });
  const names = (await readdir(templates)).toSorted();
  for (const name of names) {
    const text = await readFile(new URL(name, templates), "utf8");
    await writeFile(join(folder, name), name.endsWith(".html") ? filled(text, filling) : text, { flag: "wx" });
  }
  return ["petstore.json", ...names];
}

/** A page with its blanks filled in, as text: nothing of it becomes markup. */
export function filled(page: string, filling: Partial<Filling>): string {
  return page.replaceAll(/\{\{(\w+)\}\}/g, (blank, name: keyof Filling) => escaped(filling[name] ?? blank));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
