import { Problem } from "../platform/problem.ts";
import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

export const repair: Command = {
  name: "repair",
  summary: "Truncate a damaged log of the embedded database where it can no longer be read",
  options: { yes: { about: "really give up the transactions that cannot be read" } },
  async run({ options }, { env }) {
    if (!options["yes"])
      throw new Problem(
        "invalid_request",
        "This gives up the transactions that cannot be read, which a backup may have: say --yes to do it.",
      );
    const { repairStorage } = await import("../app/storage.ts");
    const json = repairStorage(loadSettings(env), "petstore repair", 2_000);
    if (json.lost === 0) return { json, text: "The log is not damaged: nothing was lost." };
    return { json, text: `At least ${json.lost} transactions were cut off. The log as it was is ${json.kept}.` };
  },
};
