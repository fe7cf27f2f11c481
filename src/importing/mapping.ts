import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import type { ErrorObject } from "ajv";
import Type from "typebox";
import type { Static } from "typebox";
import { fold } from "../platform/folding.ts";
import { Problem } from "../platform/problem.ts";

const columns = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 20 });
const transforms = Type.Optional(Type.Array(Type.Enum(["strip-stars"]), { maxItems: 10 }));
const status = Type.Enum(["available", "pending", "sold"]);
const values = Type.Unsafe<Record<string, Static<typeof status>>>({ type: "object", additionalProperties: status });
const text = Type.Object({ columns, transforms, default: Type.Optional(Type.String({ minLength: 1 })) }, { additionalProperties: false });

/** How a file's columns become an animal's fields. `docs/importing.md` explains each part. */
const mappingSchema = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    name: text,
    category: text,
    status: Type.Optional(
      Type.Object({ columns, transforms, values: Type.Optional(values), default: Type.Optional(status) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);
export type Mapping = Static<typeof mappingSchema>;
export type PetStatus = Static<typeof status>;
export type TextField = Static<typeof text>;

const fits = new Ajv({ allErrors: true }).compile<Mapping>(mappingSchema);
const mappingBytesMax = 1024 * 1024;

/** Reads a mapping file. Raises `invalid_request` with one line that names the file and all that is wrong in it. */
export async function readMapping(file: string): Promise<Mapping> {
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Problem("invalid_request", `The mapping ${file} cannot be read (${error.code ?? error.message}).`);
  });
  if (content.length > mappingBytesMax) throw new Problem("invalid_request", `The mapping ${file} is over ${mappingBytesMax} bytes.`);
  return parseMapping(content.toString("utf8"), file);
}

/** Checks a mapping's text; `file` is only what the error calls it. */
export function parseMapping(content: string, file: string): Mapping {
  let value: unknown;
  try {
    value = JSON.parse(content.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Problem("invalid_request", `The mapping ${file} is not JSON: ${(error as Error).message.split("\n")[0]}`);
  }
  if (!fits(value)) throw new Problem("invalid_request", `The mapping ${file} is wrong: ${(fits.errors ?? []).map(complaint).join("; ")}.`);
  const folded = Object.keys(value.status?.values ?? {}).map(valueKey);
  const twice = folded.find((key, index) => folded.indexOf(key) !== index);
  if (twice !== undefined) throw new Problem("invalid_request", `The mapping ${file} is wrong: status.values names “${twice}” twice.`);
  return value;
}

/** Raises `invalid_request` when the mapping names a column that the file's header does not have. */
export function checkColumns(mapping: Mapping, header: readonly string[], file: string): void {
  const fields = [mapping.name, mapping.category, mapping.status];
  const wanted = new Set([mapping.id, ...fields.flatMap((field) => field?.columns ?? [])]);
  const missing = [...wanted].filter((column) => !header.includes(column));
  if (missing.length === 0) return;
  const has = header.slice(0, 30).join(", ").slice(0, 500);
  throw new Problem("invalid_request", `${file} has no column “${missing.join("”, “")}”. Its columns are: ${has}.`);
}

/** The form in which a cell and the mapping's `values` are compared: without outer space, folded. */
export function valueKey(value: string): string {
  return fold(value.trim());
}

function complaint(error: ErrorObject): string {
  const where = error.instancePath.slice(1).replaceAll("/", ".") || "the mapping";
  if (error.keyword === "additionalProperties") return `${where} has an unknown field “${String(error.params["additionalProperty"])}”`;
  if (error.keyword === "required") return `${where} lacks the field “${String(error.params["missingProperty"])}”`;
  if (error.keyword === "enum") return `${where} must be one of ${(error.params["allowedValues"] as string[]).join(", ")}`;
  return `${where} ${error.message ?? "is wrong"}`;
}
