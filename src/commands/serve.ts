import { loadSettings, unknownSettings } from "../app/settings.ts";
import { catchSignals } from "../app/signals.ts";
import type { Command } from "./command.ts";

export const serve: Command = {
  name: "serve",
  summary: "Start the service",
  async run(_args, { env }) {
    const signals = catchSignals();
    const read = () => loadSettings(env);
    try {
      const { workers } = read(); // a wrong setting is refused before the service is loaded
      if (signals.stopAsked()) return undefined;
      if (workers > 1) await (await import("../app/supervisor.ts")).supervise(read, signals);
      else await (await import("../app/server.ts")).serve(read, signals, () => unknownSettings(env));
    } catch (error) {
      if (process.send) (await import("../app/worker-reports.ts")).reportFailure(error);
      throw error;
    }
    return undefined;
  },
};
