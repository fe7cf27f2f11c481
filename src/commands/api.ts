import { open } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { PetStore } from "../../client/client.ts";
import { nextBegin } from "../../client/pages.ts";
import { Problem } from "../platform/problem.ts";
import { call, typed, type Call } from "./calls.ts";
import { UsageError, type Arguments, type Command, type Outcome } from "./command.ts";
import { connect, connectionOf, connectionOptions, defaultsOf, linesTo } from "./connection.ts";
import { packedBytesMax } from "./deploy.ts";
import { allBytes } from "./input-output.ts";
import type { Value } from "./operation-table.ts";
import { declaredOperations } from "./operations.gen.ts";

/** The largest body of the API is a packed site. */
const inputBytesMax = packedBytesMax;
const pagesMax = 100_000;
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Calls any operation, with fields as `gh api` has them. */
export const api: Command = {
  name: "api",
  summary: "Call any operation of the API, and print the answer",
  operands: ["METHOD", "PATH"],
  options: {
    "raw-field": {
      short: "f",
      value: "NAME=VALUE",
      multiple: true,
      about: "a member of the JSON body, or of the query of a GET; a[b]=c is a member of an object, a[]=c an element of a list",
    },
    field: { short: "F", value: "NAME=VALUE", multiple: true, about: "the same, with true, false, null and numbers as such" },
    header: { short: "H", value: "NAME:VALUE", multiple: true, about: "a header of the request" },
    input: { value: "FILE", about: "send a file as the body, or - for standard input; fields then go into the query" },
    paginate: { about: "read all pages of a list, and print them as one" },
    include: { short: "i", about: "print the status and the headers too" },
    ...connectionOptions,
  },
  async run(args, io) {
    const [asked = "", place = ""] = args.operands;
    const method = asked.toUpperCase();
    if (!methods.includes(method)) throw new UsageError(`METHOD must be one of ${methods.join(", ")}`);
    const isPaged = args.options["paginate"] === true;
    if (isPaged && method !== "GET") throw new UsageError("--paginate is for GET");
    const connection = connectionOf(args.options, defaultsOf(io));
    const path = pathOf(place, connection.url);
    const input = await inputOf(args.options["input"], () => allBytes(io, inputBytesMax));
    const client = await connect(connection, linesTo(io));
    const made = callOf({ method, path, headers: headersOf(args.options["header"]) }, fieldsOf(args, method, path), input);
    return printed(isPaged ? await pagesOf(client, made) : await answerOf(await call(client, made)), args, io.stdout);
  },
};

/** The path below `/v1`, with its query. @throws UsageError if it is an address of another service, to which the key must not go */
function pathOf(place: string, service: string): string {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(place);
  if (isAddress && !place.startsWith(`${service}/`)) throw new UsageError(`the address is not one of ${service}`);
  const path = (isAddress ? place.slice(service.length) : place).replace(/^\/*/, "/").replace(/^\/v1(?=\/|\?|$)/, "");
  if (/^\/events\/stream(\?|$)/.test(path)) throw new UsageError("the stream does not end: `petstore events tail` prints it");
  return path;
}

function headersOf(given: Arguments["options"][string]): Record<string, string> {
  const entries = listOf(given).map((text) => {
    const [, name = "", value = ""] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/.exec(text) ?? [];
    if (name === "") throw new UsageError(`${JSON.stringify(text)} is not NAME:VALUE`);
    if (name.toLowerCase() === "authorization") throw new UsageError("--key sets the key");
    return [name, value.trim()];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

async function inputOf(file: unknown, standardInput: () => Promise<Buffer>): Promise<Buffer | undefined> {
  if (typeof file !== "string") return undefined;
  if (file === "-") return standardInput();
  const fail = (reason: string) => new Problem("invalid_request", `${file} cannot be read (${reason})`);
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => Promise.reject(fail(error.code ?? error.message)));
  try {
    const { size } = await handle.stat();
    if (size > inputBytesMax) throw new Problem("payload_too_large", `${file} is over ${inputBytesMax / 1_048_576} MiB.`);
    return await handle.readFile().catch((error: NodeJS.ErrnoException) => Promise.reject(fail(error.code ?? error.message)));
  } finally {
    await handle.close();
  }
}

type Field = { keys: string[]; value: unknown };

/** The fields of the command, each with a value of the type that the operation declares. */
function fieldsOf({ options }: Arguments, method: string, path: string): Field[] {
  const declared = declaredAt(method, path);
  const raw = listOf(options["raw-field"]).map((text) => fieldOf(text, (name, value) => typed(value, declared[name])));
  const magic = listOf(options["field"]).map((text) => fieldOf(text, (_name, value) => jsonOr(value)));
  return [...raw, ...magic];
}

function fieldOf(text: string, read: (name: string, value: string) => unknown): Field {
  const [, name = "", value = ""] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  const [, first = "", rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  if (first === "") throw new UsageError(`${JSON.stringify(text)} is not NAME=VALUE`);
  return { keys: [first, ...Array.from(rest.matchAll(/\[([^[\]]*)\]/g), ([, key = ""]) => key)], value: read(name, value) };
}

/** The declared members and parameters of the operation at a path, by name. */
function declaredAt(method: string, path: string): Record<string, Value> {
  const [plain = ""] = path.split("?");
  const steps = plain.split("/");
  const fits = (template: string): boolean => {
    const parts = template.split("/");
    return parts.length === steps.length && parts.every((part, index) => part.startsWith("{") || part === steps[index]);
  };
  const found = declaredOperations.find((one) => one.method === method && fits(one.path));
  return { ...found?.query, ...found?.body };
}

/** A true, false, null or number of a field; otherwise its text. */
function jsonOr(text: string): unknown {
  return /^(true|false|null|-?\d{1,15}(\.\d+)?)$/.test(text) ? (JSON.parse(text) as unknown) : text;
}

/** The call with its fields: in the query of a GET and beside an input, else in a JSON body. */
function callOf(made: Call, fields: Field[], input: Buffer | undefined): Call {
  if (made.method === "GET" || made.method === "HEAD" || input) {
    const query = new URLSearchParams(fields.map(({ keys: [name = ""], value }) => [name, String(value)]));
    const sent = fields.length === 0 ? made : { ...made, path: `${made.path}${made.path.includes("?") ? "&" : "?"}${query.toString()}` };
    return input ? { ...sent, body: new Uint8Array(input) } : sent;
  }
  return fields.length === 0 ? made : { ...made, body: JSON.stringify(bodyOf(fields)) };
}

function bodyOf(fields: Field[]): object {
  const body = Object.create(null) as Record<string, unknown>;
  for (const { keys, value } of fields) {
    let at: Record<string, unknown> | unknown[] = body;
    for (const [index, key] of keys.entries()) {
      const next = keys[index + 1];
      const inner = next === undefined ? value : next === "" ? [] : (Object.create(null) as object);
      if (Array.isArray(at)) {
        at.push(inner);
        at = inner as typeof at;
      } else {
        at[key] = next === undefined ? inner : (at[key] ?? inner);
        at = at[key] as typeof at;
      }
      if (next !== undefined && (typeof at !== "object" || Array.isArray(at) !== (next === "")))
        throw new UsageError(`the field ${keys[0]} has two forms`);
    }
  }
  return body;
}

type Answer = { status: number; headers: Headers; text: string; bytes: Uint8Array };

async function answerOf(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, text: new TextDecoder().decode(bytes), bytes };
}

/** All pages of a list, as one answer: that of the first page with the rows of all. */
async function pagesOf(client: PetStore, first: Call): Promise<Answer> {
  const answer = await answerOf(await call(client, first));
  const rows = rowsOf(answer.text);
  if (rows === undefined) return answer;
  let begin = nextBegin(answer.headers, client.url);
  for (let page = 1; begin !== undefined && page < pagesMax; page++) {
    const more = await answerOf(await call(client, callAt(first, begin)));
    rows.push(...(rowsOf(more.text) ?? []));
    const next = nextBegin(more.headers, client.url);
    begin = JSON.stringify(next) === JSON.stringify(begin) ? undefined : next;
  }
  const text = JSON.stringify(rows);
  return { ...answer, text, bytes: new TextEncoder().encode(text) };
}

function rowsOf(text: string): unknown[] | undefined {
  const value = text === "" ? undefined : (JSON.parse(text) as unknown);
  return Array.isArray(value) ? value : undefined;
}

/** The call with its query at the place where a page begins. */
function callAt(made: Call, begin: Record<string, string>): Call {
  const [path = "", query = ""] = made.path.split("?");
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(begin)) parameters.set(name, value);
  return { ...made, path: `${path}?${parameters.toString()}` };
}

function listOf(given: Arguments["options"][string]): string[] {
  return [given ?? []].flat().map(String);
}

function isText({ text }: Answer): boolean {
  return !text.includes("\uFFFD") && !text.includes("\0");
}

/** Prints the body as it came; with `--json` as a member of one object. */
function printed(answer: Answer, { options, operands, json }: Arguments, stdout: Writable): Outcome | undefined {
  const { status, headers, text, bytes } = answer;
  if (json) return { json: { status, headers: Object.fromEntries(headers), body: isText(answer) ? contentOf(answer) : null }, text };
  const isHead = operands[0]?.toUpperCase() === "HEAD";
  const head = [`HTTP ${status}`, ...Array.from(headers, ([name, value]) => `${name}: ${value}`), ""].join("\n");
  if (options["include"] === true || isHead) stdout.write(`${head}\n`);
  stdout.write(bytes);
  if (isText(answer) && text !== "" && !text.endsWith("\n")) stdout.write("\n");
  return undefined;
}

function contentOf({ text, headers }: Answer): unknown {
  if (text === "") return null;
  return /[/+]json/.test(headers.get("content-type") ?? "") ? (JSON.parse(text) as unknown) : text;
}
