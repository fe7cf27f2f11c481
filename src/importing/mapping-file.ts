import { readFile } from "node:fs/promises";
import { checkOf } from "../platform/http/value-checks.ts";
import { Problem, type Detail } from "../platform/problem.ts";
import { mappingSchema, type Mapping } from "./mapping-schema.ts";
import { valueKey } from "./mapping.ts";

const check = checkOf(mappingSchema);
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
  const mapping = check(value, root, found) as Mapping;
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
