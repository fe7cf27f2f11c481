import { readFile, writeFile } from "node:fs/promises";
import type { Description } from "../../client/generate.ts";
import { compactJson } from "../platform/compact-json.ts";
import { Problem } from "../platform/problem.ts";
import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

const root = new URL("../../", import.meta.url);

export const description: Command = {
  name: "description",
  summary: "Write openapi.json, the description of the API, and the client's types",
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
  const { descriptionOf } = await import("../app/operations.ts");
  const { typesOf } = await import("../../client/generate.ts");
  const described = descriptionOf(loadSettings({}));
  // only the served description has code samples, which would be a sixth of this file
  const text = `${compactJson(described, (name) => name !== "x-codeSamples")}\n`;
  return { "openapi.json": text, "client/api.gen.ts": typesOf(JSON.parse(text) as Description) };
}
