import type { Finding } from "../app/findings.ts";
import { describeSettings, loadSettings, unknownSettings } from "../app/settings.ts";
import { catchSignals } from "../app/signals.ts";
import { Problem } from "../platform/problem.ts";
import { columns, type Command } from "./command.ts";

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
      if (process.send) (await import("../app/worker-metrics.ts")).reportFailure(error);
      throw error;
    }
    return undefined;
  },
};

export const repair: Command = {
  name: "repair",
  summary: "Truncate a damaged log of the embedded database at the first unreadable transaction, or go on without a lost log",
  options: { yes: { about: "confirm the loss of the transactions that cannot be read" } },
  async run({ options }, { env }) {
    if (!options["yes"])
      throw new Problem(
        "invalid_request",
        "This discards the transactions that cannot be read or whose log is gone, which a backup may have. Add --yes to confirm.",
      );
    const { repairStorage } = await import("../app/storage.ts");
    const json = repairStorage(loadSettings(env), "petstore repair", 2_000);
    if (json.isGone) return { json, text: "The log is gone. The service goes on without the changes that were only there." };
    if (json.lost === 0) return { json, text: "The log is not damaged: nothing was lost." };
    return { json, text: `At least ${json.lost} transactions were cut off. The original log is kept in ${json.kept}.` };
  },
};

export const acceptState: Command = {
  name: "accept-state",
  summary: "Let all nodes go on with a PostgreSQL that lacks what they have stored, after a failover or a restore that lost writes",
  options: { yes: { about: "confirm that what was lost stays lost" } },
  async run({ options }, { env }) {
    const { databaseUrl } = loadSettings(env, { needsSecretsKey: false });
    if (databaseUrl === "") throw new Problem("invalid_request", "DATABASE_URL is not set: only a PostgreSQL database needs this command.");
    if (!options["yes"])
      throw new Problem(
        "invalid_request",
        "Nodes then take writes again, and give out lost ids again. Run `petstore verify` first, and add --yes.",
      );
    const { acceptState: accept } = await import("../platform/nodes/rewinds.ts");
    await accept(databaseUrl);
    return { json: { accepted: true }, text: "Every node that has found the database rewound takes writes again within a second." };
  },
};

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
    return { json: { healthy: faults.length === 0, findings: findings.map(withoutReach) }, text: lines.join("\n"), exitCode };
  },
};

/** Nothing else can be checked while a setting is wrong. */
async function found(env: Record<string, string | undefined> | undefined): Promise<Finding[]> {
  const { SettingError } = await import("../app/setting.ts");
  const about = { check: "settings", isUnreachable: false };
  try {
    const read = loadSettings(env);
    const unknown = unknownSettings(env).map((message): Finding => ({ ...about, level: "warning", message, fix: "correct its name" }));
    const { examine } = await import("../app/doctor.ts");
    const { systemClock } = await import("../platform/clock.ts");
    return [{ ...about, level: "ok", message: "every setting is valid", fix: null }, ...unknown, ...(await examine(read, systemClock))];
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return [{ ...about, level: "fault", message: error.message, fix: "`petstore settings` lists what is allowed" }];
  }
}

function withoutReach({ check, level, message, fix }: Finding) {
  return { check, level, message, fix };
}
