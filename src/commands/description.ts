import { readFile, writeFile } from "node:fs/promises";
import type { Description } from "../../client/generate.ts";
import { loadSettings } from "../app/settings.ts";
import { Problem } from "../platform/problem.ts";
import type { Command } from "./command.ts";

/** The names in the client's types before 1.2, in TypeScript. */
const formerNames = {
  NewOrder: 'Schemas["OrderInput"]',
  NewProject: 'Schemas["ProjectInput"]',
  NewDomain: 'Schemas["DomainInput"]',
  NewDomainRedirect: 'Schemas["DomainRedirectInput"]',
  NullablePetStatus: 'Schemas["PetStatus"] | null',
  NullableDomainChallenge: 'Schemas["DomainProof"]',
};

/** The members of the description that the committed file leaves out. */
const onlyServed = new Set(["x-codeSamples", "examples"]);

const root = new URL("../../", import.meta.url);

export const description: Command = {
  name: "description",
  summary: "Write openapi.json, the description of the API, and what is made from it: the client's types and the commands' operations",
  options: { check: { about: "write nothing; fail if the files are not current" } },
  async run({ options }) {
    const files = await generate();
    const names = Object.keys(files).join(" and ");
    if (!options["check"]) {
      for (const [name, text] of Object.entries(files)) await writeFile(new URL(name, root), text);
      return { json: { written: Object.keys(files) }, text: `${names} are written` };
    }
    for (const [name, text] of Object.entries(files))
      if ((await readFile(new URL(name, root), "utf8").catch(() => "")) !== text)
        throw new Problem("precondition_failed", `${name} is not current: run \`npm run description\` and commit it`);
    return { json: { current: true }, text: `${names} are current` };
  },
};

/** The generated files: contents by path from the project's root. */
async function generate(): Promise<Record<string, string>> {
  const { descriptionOf } = await import("../app/description.ts");
  const { typesOf } = await import("../../client/generate.ts");
  const { operationTableOf } = await import("./operation-table.ts");
  const described = descriptionOf(loadSettings({}));
  // Only the served description has code samples and examples of refusals, which would be a quarter of this file (decision 0078). A response fits on a
  // line, so that a change shows well.
  const text = `${compactJson(described, { lineLengthMax: 1600, space: "", includes: (name) => !onlyServed.has(name) })}\n`;
  const document = JSON.parse(text) as Description;
  return {
    "openapi.json": text,
    "src/commands/operations.gen.ts": operationTableOf(document),
    "client/api.gen.ts": typesOf(document, formerNames),
  };
}

/** What `compactJson` writes, and how. `space` follows colons and commas; `includes` tells whether members with a name are written. */
type Form = { lineLengthMax: number; space?: " " | ""; includes?: (name: string) => boolean };

/** JSON with an indent of one space, with each object or array on one line if it fits. */
export function compactJson(value: unknown, form: Form, indent = ""): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const { lineLengthMax, space = " ", includes = () => true } = form;
  const inner = `${indent} `;
  const members = Array.isArray(value)
    ? value.map((item) => compactJson(item, form, inner))
    : Object.entries(value)
        .filter(([name, member]) => member !== undefined && includes(name))
        .map(([name, member]) => `${JSON.stringify(name)}:${space}${compactJson(member, form, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const line = `${open}${members.join(`,${space}`)}${close}`;
  if (!line.includes("\n") && line.length + indent.length <= lineLengthMax) return line;
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}
