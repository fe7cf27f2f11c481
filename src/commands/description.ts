import { readFile, writeFile } from "node:fs/promises";
import type { Description } from "../../client/generate.ts";
import { statuses } from "../platform/http/statuses.ts";
import { compactJson } from "../platform/compact-json.ts";
import { Problem } from "../platform/problem.ts";
import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

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
  // Only the served description has code samples, which would be a sixth of this file. An operation fits on a line, so that a change shows well.
  const text = `${compactJson(described, { lineLengthMax: 800, space: "", includes: (name) => name !== "x-codeSamples" })}\n`;
  const document = JSON.parse(text) as Description;
  return {
    "openapi.json": text,
    "src/commands/operations.gen.ts": operationTableOf(document),
    "client/api.gen.ts": typesOf(withErrorCodes(document)),
  };
}

/**
 * Lists the codes of errors in the client's types. The description itself leaves them open, so that a new code breaks no client that was
 * generated from it.
 */
function withErrorCodes(document: Description): Description {
  const { code } = document.components.schemas["Error"]?.properties ?? {};
  if (code === undefined) throw new Error("the description has no Error with a code");
  code.enum = Object.keys(statuses);
  return document;
}
