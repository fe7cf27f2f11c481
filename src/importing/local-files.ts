import { createReadStream } from "node:fs";
import { open, stat, readFile } from "node:fs/promises";
import { writeDurably } from "../platform/files.ts";
import { checkOf } from "../platform/http/value-checks.ts";
import { Type, type Static } from "../platform/json-schema.ts";
import { attempt } from "../platform/parse.ts";
import { Problem, type Detail } from "../platform/problem.ts";
import type { CsvFormat } from "./csv.ts";
import type { InputFile } from "./inspect.ts";
import { batchSizeMax } from "./load.ts";
import { mappingSchema, petStatuses, type Mapping } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";
import type { KnownPet, State } from "./memory.ts";
import { formatRejects, type Reject } from "./source.ts";

/*
 * The files of an import by the command line: the file itself, its mapping, its rejects, and the state of an earlier release.
 */

/** Opens a file; `chosen` is what is known of its format. @throws Problem `invalid_request` if it does not exist */
export async function openFile(file: string, chosen: Partial<CsvFormat> = {}): Promise<InputFile> {
  const size = await sizeOf(file);
  return { name: file, bytes: () => bytesOf(file), access: { size, read: (position, count) => readAt(file, position, count) }, chosen };
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.message);
    throw new Problem("invalid_request", `${file} cannot be read: ${why}.`);
  });
  if (!found.isFile()) throw new Problem("invalid_request", `${file} is not a file.`);
  return found.size;
}

/** Opens the file for each read, so that nobody has to close it. */
async function readAt(file: string, position: number, count: number): Promise<Uint8Array> {
  await using opened = await open(file);
  const { bytesRead, buffer } = await opened.read(Buffer.alloc(count), 0, count, position);
  return buffer.subarray(0, bytesRead);
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of createReadStream(file)) yield bytes as Buffer;
  } catch (error) {
    throw new Problem("invalid_request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
  }
}

const checkMapping = checkOf(mappingSchema);
const mappingBytesMax = 1024 * 1024;

/** Reads a mapping file. @throws Problem `invalid_request` with one line that names the file and everything wrong in it */
export async function readMapping(file: string): Promise<Mapping> {
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "there is no such file" : (error.code ?? error.message);
    throw new Problem("invalid_request", `The mapping ${file} cannot be read: ${why}.`);
  });
  if (content.length > mappingBytesMax) throw new Problem("invalid_request", `The mapping ${file} is over ${mappingBytesMax} bytes.`);
  return parseMapping(content.toString("utf8"), file);
}

/** Checks the text of a mapping; `file` is its name in errors. */
export function parseMapping(content: string, file: string): Mapping {
  let value: unknown;
  try {
    value = JSON.parse(content.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Problem("invalid_request", `The mapping ${file} is not JSON: ${(error as Error).message.split("\n")[0]}`);
  }
  const found: Detail[] = [];
  const mapping = checkMapping(value, root, found) as Mapping;
  if (found.length > 0) throw new Problem("invalid_request", `The mapping ${file} is wrong: ${found.map(complaint).join("; ")}.`);
  const folded = Object.keys(mapping.status?.values ?? {}).map(valueKey);
  const twice = folded.find((key, index) => folded.indexOf(key) !== index);
  if (twice !== undefined) throw new Problem("invalid_request", `The mapping ${file} is wrong: status.values names “${twice}” twice.`);
  if (mapping.category.columns.length === 0 && mapping.category.default === undefined)
    throw new Problem("invalid_request", `The mapping ${file} is wrong: category needs columns or a default.`);
  return mapping;
}

/** The fields of the mapping itself are named without this. */
const root = "the mapping";

function complaint({ path, message }: Detail): string {
  return `${path.replace(`${root}.`, "")} ${message}`;
}

/** Writes the reject file atomically. @throws Problem `invalid_request` if it cannot */
export async function writeRejects(file: string, header: readonly string[], rejects: readonly Reject[]): Promise<void> {
  try {
    await writeDurably(file, formatRejects(header, rejects), 0o666);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Problem("invalid_request", `The reject file ${file} cannot be written (${code ?? message}).`);
  }
}

const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const element = Type.Object({
  sourceId: Type.String(),
  hash: Type.String(),
  replaces: Type.Unsafe<number | null>({ type: "integer", nullable: true }),
  pet: Type.Object({ name: Type.String(), categoryId: id, status: Type.Enum([...petStatuses]) }),
});
const stateSchema = Type.Object({
  version: Type.Unsafe<1>({ const: 1 }),
  server: Type.String(),
  account: Type.Unsafe<number | null>({ type: "integer", nullable: true }),
  batch: Type.Unsafe<State["batch"]>({
    ...Type.Object({ sentAt: Type.Number(), elements: Type.Array(element, { minItems: 1, maxItems: batchSizeMax }) }),
    nullable: true,
  }),
  animals: Type.Unsafe<Record<string, KnownPet>>({
    type: "object",
    additionalProperties: Type.Object({ petId: id, hash: Type.String() }),
  }),
});

const checkState = checkOf(stateSchema);

/** Reads a state file; undefined if there is none. @throws Problem `invalid_request` if it is invalid */
export async function readState(file: string): Promise<State | undefined> {
  const content = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Problem("invalid_request", `The state file ${file} cannot be read (${error.code ?? error.message}).`);
  });
  return content === undefined ? undefined : parseState(content, file);
}

/** Parses the text of a state; `file` is its name in errors. */
export function parseState(content: string, file: string): State {
  const found: Detail[] = [];
  const stored = checkState(
    attempt((): unknown => JSON.parse(content)),
    file,
    found,
  ) as Static<typeof stateSchema>;
  if (found.length > 0) throw new Problem("invalid_request", `${file} is not a state file of this import. Move it away.`);
  const { server, account, batch, animals } = stored;
  return { server, account, batch, animals: new Map(Object.entries(animals)) };
}
