import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { origin } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import type { Command, Io, Options } from "./command.ts";
import { defaultsOf } from "./connection.ts";

/** What `init` can also do in the folder of the service. */
export type OfService = {
  publicUrl(io: Io): Promise<string>;
  /** Creates a publishable key of an account. */
  newKey(io: Io, account: unknown): Promise<string>;
  /** Returns the function that writes the API reference into a folder. @throws Problem if the reference has not been built */
  openReference(): Promise<(folder: string, url: string) => Promise<void>>;
};

/**
 * Creates the command.
 *
 * @param service undefined in the package without the service
 */
export function initialising(service?: OfService): Command {
  return {
    name: "init",
    summary: "Write the settings of a storefront, or a starter page, into a new folder, ready to deploy",
    options: service ? serviceOptions : sharedOptions,
    operands: ["DIR"],
    async run({ options, operands: [folder = ""] }, io) {
      const name = nameOf(String(options["name"] ?? basename(resolve(folder))));
      refuseTwoKeys(options);
      const ofAccount = options["account"] === undefined ? undefined : service;
      const url = originOf(String(options["url"] ?? (await (ofAccount ? ofAccount.publicUrl(io) : calledUrl(io)))));
      await requireEmpty(folder);
      const writeReference = options["reference"] === true ? await service?.openReference() : undefined;
      const key = ofAccount ? await ofAccount.newKey(io, options["account"]) : keyIn(options["key"]);
      const files = key === null ? await writeStorefront(folder, name) : await writeStarter(folder, { name, url, key });
      await writeReference?.(folder, url);
      if (writeReference) files.push("reference/");
      const program = service ? "npm run petstore --" : "petstore";
      return { json: { folder, url, key, files }, text: nextSteps(program, folder, { name, url, files, isPage: key !== null }) };
    },
  };
}

const writesPage = "write a page of HTML and JavaScript instead, with";
const sharedOptions: Options = {
  key: { value: "psp_…", about: `${writesPage} this publishable key` },
  name: { value: "NAME", about: "the shop's name. Default: the folder's name" },
  url: { value: "URL", about: "the API's address for visitors. Default: PETSTORE_URL, else that of the profile" },
};
const serviceOptions: Options = {
  account: { value: "ID", about: `${writesPage} a new publishable key of this account` },
  ...sharedOptions,
  key: { value: "psp_…", about: "write that page with this publishable key" },
  url: {
    value: "URL",
    about: "the API's address for visitors. Default: PETSTORE_URL, else that of the profile; with --account, PUBLIC_URL of the service",
  },
  reference: { about: "add the API reference, in reference/" },
};

/** The service that the other commands call. */
function calledUrl(io: Io): string {
  const { url, isUrlSet = true, profile } = defaultsOf(io);
  return isUrlSet ? url : (profile?.()?.url ?? url);
}

function refuseTwoKeys({ key, account }: Record<string, unknown>): void {
  if (key !== undefined && account !== undefined)
    throw new Problem("invalid_request", "give either --key or --account: one of them is enough");
}

/** The service's origin from an address with or without `/v1`. */
function originOf(text: string): string {
  const url = origin(text.replace(/(?:\/v1)?\/?$/, ""));
  if (url === undefined)
    throw new Problem("invalid_request", `--url ${text} is not an http or https origin, such as https://pets.example.com`);
  return url;
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name === "" || name.length > 200) throw new Problem("invalid_request", "--name must have 1 to 200 characters");
  return name;
}

/** The key of the page; null for a storefront, which needs none. */
function keyIn(key: unknown): string | null {
  return key === undefined ? null : publishable(key as string);
}

/** Refuses secret keys, because everybody can read the page. */
function publishable(key: string): string {
  if (/^psp_[0-9A-Za-z]{36}$/.test(key)) return key;
  throw new Problem("invalid_request", "--key must be a publishable key (psp_…), because everybody can read the page that contains it");
}

type StarterProject = { name: string; url: string; files: string[]; isPage: boolean };

function nextSteps(program: string, folder: string, { name, url, files, isPage }: StarterProject): string {
  const slug = slugOf(basename(resolve(folder)));
  return [
    `Created in ${folder}: ${files.join(", ")}.`,
    ...(isPage
      ? []
      : ["", "Its petstore.json holds the colour, the texts, the contact and the hours of the shop; the animals come from the catalogue."]),
    "",
    "Publish it with a key of the account:",
    "",
    `  export PETSTORE_URL=${url} PETSTORE_KEY=psk_…`,
    `  ${program} projects create ${slug} --name ${quoted(name)}`,
    `  ${program} deploy ${quoted(folder)} --project ${slug}`,
  ].join("\n");
}

/** A DNS label that resembles the folder's name. */
function slugOf(text: string): string {
  const slug = text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-|-$/g, "");
  return slug === "" ? "shop" : slug;
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The values for the placeholders `{{name}}`, `{{url}}` and `{{key}}`. */
type StarterValues = { name: string; url: string; key: string };

/** In the package of the command line alone, the templates are beside this file. */
function templatesFolder(): URL {
  const [beside, ofSource] = [new URL("starter/", import.meta.url), new URL("../../starter/", import.meta.url)];
  return existsSync(beside) ? beside : ofSource;
}

/** Checks that a folder is absent or empty, apart from hidden files, which are not deployed. @throws Problem `invalid_request` */
async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Problem("invalid_request", `${folder} cannot be used (${error.code ?? error.message})`);
  });
  const [first] = names.filter((name) => !name.startsWith(".")).toSorted();
  if (first !== undefined) throw new Problem("invalid_request", `${join(folder, first)} already exists: give a new or empty folder`);
}

/** Writes the starter into a folder, which is created if absent, and returns the names of its files. Overwrites nothing. */
async function writeStarter(folder: string, filling: StarterValues): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const projectFile = `${JSON.stringify({ name: filling.name, domains: {} }, undefined, 2)}\n`;
  await writeFile(join(folder, "petstore.json"), projectFile, { flag: "wx" });
  const templates = templatesFolder();
  const names = (await readdir(templates)).toSorted();
  for (const name of names) {
    const text = await readFile(new URL(name, templates), "utf8");
    await writeFile(join(folder, name), name.endsWith(".html") ? filled(text, filling) : text, { flag: "wx" });
  }
  return ["petstore.json", ...names];
}

/** Writes a `petstore.json` with the settings of a storefront that every shop has (specification 6.7), to be filled in, and returns its name. Overwrites nothing. */
async function writeStorefront(folder: string, name: string): Promise<string[]> {
  const contact = { email: "", phone: "", address: "" };
  const storefront = { colour: "#0b6b58", tagline: "", about: "", contact, hours: [] };
  await mkdir(folder, { recursive: true });
  const text = `${JSON.stringify({ name, domains: {}, storefront }, undefined, 2)}\n`;
  await writeFile(join(folder, "petstore.json"), text, { flag: "wx" });
  return ["petstore.json"];
}

/** Fills in a page's placeholders with escaped values, so that none becomes markup. */
export function filled(page: string, filling: Partial<StarterValues>): string {
  return page.replaceAll(/\{\{(\w+)\}\}/g, (blank, name: keyof StarterValues) => escaped(filling[name] ?? blank));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
