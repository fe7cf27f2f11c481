import { readFile, writeFile } from "node:fs/promises";
import { Problem } from "../platform/problem.ts";
import { loadSettings } from "../settings.ts";
import type { Command } from "./command.ts";

const file = new URL("../../openapi.json", import.meta.url);

export const description: Command = {
  name: "description",
  usage: "[--check]",
  summary: "Write openapi.json, the description of the API; with --check, only compare it",
  options: { check: { type: "boolean" } },
  async run({ options }) {
    const { descriptionOf } = await import("../api.ts");
    const { getPetSunset } = loadSettings({});
    const text = `${JSON.stringify(descriptionOf(getPetSunset), undefined, 2)}\n`;
    if (options["check"]) {
      if ((await readFile(file, "utf8").catch(() => "")) === text) return { json: { current: true }, text: "openapi.json is current" };
      throw new Problem("precondition_failed", "openapi.json is not current: run `npm run description` and commit it");
    }
    await writeFile(file, text);
    return { json: { written: "openapi.json" }, text: "openapi.json is written" };
  },
};
