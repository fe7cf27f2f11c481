import { loadSettings } from "../app/settings.ts";
import type { Command } from "./command.ts";

export const serve: Command = {
  name: "serve",
  summary: "Start the service",
  async run(_args, { env }) {
    const settings = loadSettings(env);
    const { serve: start } = await import("../app/server.ts");
    await start(settings);
    return undefined;
  },
};
