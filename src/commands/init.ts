import { basename, resolve } from "node:path";
import { origin } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import { administer } from "./administer.ts";
import { numeric, type Command, type Io } from "./command.ts";
import type { Environment } from "./connection.ts";

/** Makes the command; `environment` is where the service's address is looked up when it is not an option. */
export function initialising(environment: Environment): Command {
  return {
    name: "init",
    summary: "Write a starter for a shop's page into a new folder, to be deployed",
    options: {
      account: { value: "ID", about: "the account whose animals it shows: a publishable key is made for the page" },
      key: { value: "psp_…", about: "a publishable key to put into the page, in place of --account" },
      name: { value: "NAME", about: "the shop's name. Default: the folder's name" },
      url: { value: "URL", about: "where visitors find the API. Default: PUBLIC_URL of the service; with --key, PETSTORE_URL" },
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
  if (key !== undefined && account !== undefined) throw new Problem("invalid_request", "--key and --account: one of them is enough");
  if (key !== undefined || account !== undefined) return;
  throw new Problem(
    "invalid_request",
    "the page needs a publishable key: give --account ID to have one made, or --key with one from `petstore keys create --account ID --publishable`",
  );
}

/** The page's address of the service, with or without `/v1`. */
function originOf(text: string): string {
  const url = origin(text.replace(/(?:\/v1)?\/?$/, ""));
  if (url === undefined) throw new Problem("invalid_request", `--url ${text} is no http or https origin, such as https://pets.example.com`);
  return url;
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name === "" || name.length > 200) throw new Problem("invalid_request", "--name must be a text of 1 to 200 characters");
  return name;
}

/** Everybody can read the page: a key that may change something must not get there. */
function publishable(key: string): string {
  if (/^psp_[0-9A-Za-z]{36}$/.test(key)) return key;
  throw new Problem("invalid_request", "--key is not a publishable key (psp_…), and everybody can read the page that it is written into");
}

/** Where the service that makes the page's key says that people find it. */
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
    `${folder} holds ${files.join(", ")}.`,
    "",
    "Publish it with a key of the account:",
    "",
    `  export PETSTORE_URL=${url} PETSTORE_KEY=psk_…`,
    `  npm run petstore -- projects create ${slug} --name ${quoted(name)}`,
    `  npm run petstore -- deploy ${quoted(folder)} --project ${slug}`,
  ].join("\n");
}

/** A DNS label that is like the folder's name. */
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
