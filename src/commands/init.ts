import { basename, resolve } from "node:path";
import { origin } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import { administer } from "./administer.ts";
import { numeric, type Command, type Io } from "./command.ts";
import type { Environment } from "./connection.ts";

/** Creates the command. `environment` returns the service to use if the options name none. */
export function initialising(environment: Environment): Command {
  return {
    name: "init",
    summary: "Write a starter page for a shop into a new folder, ready to deploy",
    options: {
      account: { value: "ID", about: "the account whose pets it shows; creates a publishable key for the page" },
      key: { value: "psp_…", about: "a publishable key for the page, in place of --account" },
      name: { value: "NAME", about: "the shop's name. Default: the folder's name" },
      url: { value: "URL", about: "the API's address for visitors. Default: PUBLIC_URL of the service; with --key, PETSTORE_URL" },
      reference: { about: "add the API reference, in reference/" },
    },
    operands: ["DIR"],
    async run({ options, operands: [folder = ""] }, io) {
      const { requireEmpty, writeStarter } = await import("./starter.ts");
      const name = nameOf(String(options["name"] ?? basename(resolve(folder))));
      requireKeyOrAccount(options);
      const url = originOf(String(options["url"] ?? (options["key"] === undefined ? await publicUrl(io) : environment(io).url)));
      await requireEmpty(folder);
      const reference = options["reference"] === true ? await import("./reference.ts") : undefined;
      await reference?.requireReference();
      const key = options["key"] === undefined ? await newKey(io, options["account"]) : publishable(String(options["key"]));
      const files = await writeStarter(folder, { name, url, key });
      if (reference) {
        await reference.writeReference(folder, url);
        files.push("reference/");
      }
      return { json: { folder, url, key, files }, text: nextSteps(folder, { name, url, files }) };
    },
  };
}

function requireKeyOrAccount({ key, account }: Record<string, unknown>): void {
  if (key !== undefined && account !== undefined)
    throw new Problem("invalid_request", "give either --key or --account: one of them is enough");
  if (key !== undefined || account !== undefined) return;
  throw new Problem(
    "invalid_request",
    "the page needs a publishable key: give --account ID to create one, or --key with one from `petstore keys create --account ID --publishable`",
  );
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

/** Refuses secret keys, because everybody can read the page. */
function publishable(key: string): string {
  if (/^psp_[0-9A-Za-z]{36}$/.test(key)) return key;
  throw new Problem("invalid_request", "--key must be a publishable key (psp_…), because everybody can read the page that contains it");
}

/** The public URL of the service that creates the page's key. */
async function publicUrl(io: Io): Promise<string> {
  return (await administer(io, "service.describe", {})).publicUrl;
}

async function newKey(io: Io, account: unknown): Promise<string> {
  const { key } = await administer(io, "keys.create", { account: numeric(account), publishable: true });
  return key;
}

function nextSteps(folder: string, { name, url, files }: { name: string; url: string; files: string[] }): string {
  const slug = slugOf(basename(resolve(folder)));
  return [
    `Created in ${folder}: ${files.join(", ")}.`,
    "",
    "Publish it with a key of the account:",
    "",
    `  export PETSTORE_URL=${url} PETSTORE_KEY=psk_…`,
    `  npm run petstore -- projects create ${slug} --name ${quoted(name)}`,
    `  npm run petstore -- deploy ${quoted(folder)} --project ${slug}`,
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
