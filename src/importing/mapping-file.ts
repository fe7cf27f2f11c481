import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import type { ErrorObject } from "ajv";
import { Problem } from "../platform/problem.ts";
import { mappingSchema, type Mapping } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";

const fits = new Ajv({ allErrors: true }).compile<Mapping>(mappingSchema);
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
  if (!fits(value)) throw new Problem("invalid_request", `The mapping ${file} is wrong: ${(fits.errors ?? []).map(complaint).join("; ")}.`);
  const folded = Object.keys(value.status?.values ?? {}).map(valueKey);
  const twice = folded.find((key, index) => folded.indexOf(key) !== index);
  if (twice !== undefined) throw new Problem("invalid_request", `The mapping ${file} is wrong: status.values names “${twice}” twice.`);
  if (value.category.columns.length === 0 && value.category.default === undefined)
    throw new Problem("invalid_request", `The mapping ${file} is wrong: category needs columns or a default.`);
  return value;
}

function complaint(error: ErrorObject): string {
  const where = error.instancePath.slice(1).replaceAll("/", ".") || "the mapping";
  if (error.keyword === "additionalProperties") return `${where} has an unknown field “${String(error.params["additionalProperty"])}”`;
  if (error.keyword === "required") return `${where} lacks the field “${String(error.params["missingProperty"])}”`;
  if (error.keyword === "enum") return `${where} must be one of ${(error.params["allowedValues"] as string[]).join(", ")}`;
  if (error.keyword === "pattern") return `${where} must be the code of a currency, such as EUR`;
  return `${where} ${error.message ?? "is wrong"}`;
}
