import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../platform/problem.ts";

/** The values for the placeholders `{{name}}`, `{{url}}` and `{{key}}`. */
type Filling = { name: string; url: string; key: string };

/** In the package of the command line alone, the templates are beside this file. */
const templates = [new URL("starter/", import.meta.url), new URL("../../starter/", import.meta.url)].find((one) => existsSync(one))!;

/** Checks that a folder is absent or empty, apart from hidden files, which are not deployed. @throws Problem `invalid_request` */
export async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Problem("invalid_request", `${folder} cannot be used (${error.code ?? error.message})`);
  });
  const [first] = names.filter((name) => !name.startsWith(".")).toSorted();
  if (first !== undefined) throw new Problem("invalid_request", `${join(folder, first)} already exists: give a new or empty folder`);
}

/** Writes the starter into a folder, which is created if absent, and returns the names of its files. Overwrites nothing. */
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

/** Writes a `petstore.json` with every setting of a storefront (specification 6.7), to be filled in, and returns its name. Overwrites nothing. */
export async function writeStorefront(folder: string, name: string): Promise<string[]> {
  const contact = { email: "", phone: "", address: "" };
  const storefront = { colour: "#0b6b58", tagline: "", about: "", contact, hours: [] };
  await mkdir(folder, { recursive: true });
  const text = `${JSON.stringify({ name, domains: {}, storefront }, undefined, 2)}\n`;
  await writeFile(join(folder, "petstore.json"), text, { flag: "wx" });
  return ["petstore.json"];
}

/** Fills in a page's placeholders with escaped values, so that none becomes markup. */
export function filled(page: string, filling: Partial<Filling>): string {
  return page.replaceAll(/\{\{(\w+)\}\}/g, (blank, name: keyof Filling) => escaped(filling[name] ?? blank));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
