import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

const mebibyte = 1_048_576;

export const compact: Command = {
  name: "compact",
  summary: "Rewrite the embedded database without free space; the service must be stopped",
  async run(_args, { env }) {
    const { compactStorage } = await import("../app/storage.ts");
    const json = compactStorage(loadSettings(env), "petstore compact", 2_000);
    const [before, after] = [json.before, json.after].map((bytes) => (bytes / mebibyte).toFixed(1));
    return {
      json,
      text: `The database took ${before} MiB and takes ${after} MiB now. From now on the service gives free space back to the disk while it runs.`,
    };
  },
};
