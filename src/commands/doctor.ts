import type { Finding } from "../app/doctor.ts";
import type { Command } from "./command.ts";

const signs = { ok: "ok     ", warning: "warning", fault: "FAULT  " };

export const doctor: Command = {
  name: "doctor",
  summary: "Check the settings, the data folder, the database, Redis, ports, DNS, the ACME directory and the clock, and say what to do",
  async run(_args, { env }) {
    const findings = await found(env);
    const lines = findings.map(
      ({ check, level, message, fix }) => `${signs[level]} ${check}: ${message}${fix === null ? "" : `. To do: ${fix}`}`,
    );
    const faults = findings.filter(({ level }) => level === "fault");
    const exitCode = faults.length === 0 ? 0 : faults.every(({ isUnreachable }) => isUnreachable) ? 6 : 1;
    return { json: { healthy: faults.length === 0, findings: findings.map(shown) }, text: lines.join("\n"), exitCode };
  },
};

/** Nothing else can be checked while a setting is wrong. */
async function found(env: Record<string, string | undefined> | undefined): Promise<Finding[]> {
  const { loadSettings, unknownSettings } = await import("../app/settings.ts");
  const { SettingError } = await import("../app/setting.ts");
  const about = { check: "settings", isUnreachable: false };
  try {
    const settings = loadSettings(env);
    const unknown = unknownSettings(env).map((message): Finding => ({ ...about, level: "warning", message, fix: "correct its name" }));
    const { examine } = await import("../app/doctor.ts");
    const { systemClock } = await import("../platform/clock.ts");
    return [{ ...about, level: "ok", message: "every setting is valid", fix: null }, ...unknown, ...(await examine(settings, systemClock))];
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return [{ ...about, level: "fault", message: error.message, fix: "`petstore settings` lists what is allowed" }];
  }
}

function shown({ check, level, message, fix }: Finding) {
  return { check, level, message, fix };
}
