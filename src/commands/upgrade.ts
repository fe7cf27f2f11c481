import { loadSettings } from "../app/settings.ts";
import type { UpgradeForecast } from "../app/upgrade-check.ts";
import { countOf, type Command, type Io, type Outcome } from "./command.ts";
import { linesTo } from "./connection.ts";

export const upgrade: Command = {
  name: "upgrade",
  summary: "Bring the data up to date with this release; `serve` does so too",
  options: {
    check: { about: "say what the upgrade will do, how long it takes, how much space it needs and what stops it; changes nothing" },
  },
  run: ({ options }, io) => (options["check"] ? check(io) : apply(io)),
};

/** The former name of `upgrade`, for scripts. */
export const migrate: Command = {
  name: "migrate",
  summary: "The same as `upgrade`",
  run: (_args, io) => apply(io),
};

async function apply({ env, stderr }: Io): Promise<Outcome> {
  const { openStorage } = await import("../app/storage.ts");
  const { upgrade: done, close } = await openStorage(loadSettings(env), "petstore upgrade", 2_000, { onUpgradeStep: linesTo({ stderr }) });
  await close();
  const { migrated, copy } = done;
  const kept = copy === undefined ? "" : ` The database as it was before is in ${copy}.`;
  return {
    json: { migrated, copy: copy ?? null },
    text: migrated.length > 0 ? `Applied ${migrated.join(", ")}.${kept}` : "The database is up to date.",
  };
}

async function check({ env }: Io): Promise<Outcome> {
  const { bytesText, forecastUpgrade } = await import("../app/upgrade-check.ts");
  const forecast = await forecastUpgrade(loadSettings(env));
  return { json: forecast, text: textOf(forecast, bytesText), exitCode: forecast.ready ? 0 : 1 };
}

function textOf({ pending, seconds, space, nodes, notes, problems, ready }: UpgradeForecast, bytesText: (bytes: number) => string): string {
  const rows = (count: number, bytes: number): string => `${countOf(count, "row")}, ${bytesText(bytes)}`;
  const migrations = pending.map(({ migration, changes }) => {
    const done = changes.map(({ table, does, rows: count, bytes }) => `${does} ${table} (${rows(count, bytes)})`);
    return `  ${migration}: ${done.length > 0 ? done.join(", ") : "leaves the rows as they are"}`;
  });
  const free = space.freeBytes === null ? "" : `, of ${bytesText(space.freeBytes)} free`;
  const log = space.logBytes === null ? "" : `, of which ${bytesText(space.logBytes)} for the log (WAL) of PostgreSQL`;
  const plan = [
    `${countOf(pending.length, "migration")} to apply:`,
    ...migrations,
    `Time: ${aboutText(seconds)}.`,
    `Space: ${bytesText(space.neededBytes)}${log}${free}.`,
  ];
  const live = nodes.map(
    ({ name, release, isTooOld }) => `Node: ${name}, release ${release}${isTooOld ? ", too old" : ", may run during the upgrade"}.`,
  );
  return [
    ...(pending.length > 0 ? plan : problems.length > 0 ? [] : ["Nothing to apply."]),
    ...live,
    ...notes.map((note) => `Note: ${note}.`),
    ...problems.map((problem) => `STOPS: ${problem}.`),
    ready ? "The upgrade can go on." : "The upgrade cannot go on.",
  ].join("\n");
}

/** A rough time: the estimate is right within a factor of two, so a short time is shown as an upper bound. */
function aboutText(seconds: number): string {
  if (seconds < 30) return `up to ${2 * seconds} seconds`;
  if (seconds < 90) return "about a minute";
  if (seconds < 90 * 60) return `about ${Math.round(seconds / 60)} minutes`;
  return `about ${Math.round(seconds / 3_600)} hours`;
}
