import { Problem } from "../platform/problem.ts";
import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

export const repair: Command = {
  name: "repair",
  summary: "Truncate a damaged log of the embedded database at the first unreadable transaction",
  options: { yes: { about: "confirm the loss of the transactions that cannot be read" } },
  async run({ options }, { env }) {
    if (!options["yes"])
      throw new Problem(
        "invalid_request",
        "This discards the transactions that cannot be read, which a backup may have. Add --yes to confirm.",
      );
    const { repairStorage } = await import("../app/storage.ts");
    const json = repairStorage(loadSettings(env), "petstore repair", 2_000);
    if (json.lost === 0) return { json, text: "The log is not damaged: nothing was lost." };
    return { json, text: `At least ${json.lost} transactions were cut off. The original log is kept in ${json.kept}.` };
  },
};
