import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "Apply missing database migrations; `serve` does so too",
  async run(_args, { env }) {
    const { openStorage } = await import("../app/storage.ts");
    const { upgrade, close } = await openStorage(loadSettings(env), "petstore migrate", 2_000);
    await close();
    const { migrated, copy } = upgrade;
    const kept = copy === undefined ? "" : ` The database as it was before is in ${copy}.`;
    return {
      json: { migrated, copy: copy ?? null },
      text: migrated.length > 0 ? `Applied ${migrated.join(", ")}.${kept}` : "The database is up to date.",
    };
  },
};
