import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

export const migrate: Command = {
  name: "migrate",
  summary: "Apply missing database migrations; `serve` does so too",
  async run(_args, { env }) {
    const { openStorage } = await import("../app/storage.ts");
    const { migrated, close } = await openStorage(loadSettings(env), "petstore migrate", 2_000);
    await close();
    return { json: { migrated }, text: migrated.length > 0 ? `Applied ${migrated.join(", ")}.` : "The database is up to date." };
  },
};
