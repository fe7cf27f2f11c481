import { describeSettings, loadSettings, unknownSettings } from "../app/settings.ts";
import { columns, type Command } from "./command.ts";

export const settings: Command = {
  name: "settings",
  summary: "Show every setting (environment variable), its value and its default",
  async run(_args, { env, stderr }) {
    loadSettings(env);
    for (const line of unknownSettings(env)) stderr.write(`petstore: ${line}\n`);
    const lines = describeSettings(env);
    const rows = lines.map((line) => [line.name, line.value, line.default, line.meaning]);
    return { json: { settings: lines }, text: columns(["NAME", "VALUE", "DEFAULT", "MEANING"], rows) };
  },
};
