import { readFile } from "node:fs/promises";
import { checkOf } from "../platform/http/value-checks.ts";
import { Type, type Static } from "../platform/json-schema.ts";
import { Problem, type Detail } from "../platform/problem.ts";
import { petStatuses } from "./mapping-schema.ts";
import { batchSizeMax } from "./plan.ts";
import type { Known, State } from "./state.ts";

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
  animals: Type.Unsafe<Record<string, Known>>({
    type: "object",
    additionalProperties: Type.Object({ petId: id, hash: Type.String() }),
  }),
});

const check = checkOf(stateSchema);

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
  const stored = check(parsed(content), file, found) as Static<typeof stateSchema>;
  if (found.length > 0) throw new Problem("invalid_request", `${file} is not a state file of this import. Move it away.`);
  const { server, account, batch, animals } = stored;
  return { server, account, batch, animals: new Map(Object.entries(animals)) };
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
