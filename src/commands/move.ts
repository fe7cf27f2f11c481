import { join, resolve } from "node:path";
import { callerFolder, loadSettings, type Settings } from "../app/settings.ts";
import { Problem } from "../platform/problem.ts";
import { type Command, type Io, type Outcome, stoppable } from "./command.ts";
import { linesTo } from "./connection.ts";

const progressEveryMs = 1_000;

export const move: Command = {
  name: "move",
  summary: "Copy all data from DATA_DIR to PostgreSQL, or from DATABASE_URL to a folder",
  options: {
    to: {
      value: "URL|DIR",
      required: true,
      about: "an empty database, postgres://…, or an empty folder. PGPASSWORD may hold the password",
    },
  },
  async run({ options, json }, io) {
    const settings = loadSettings(io.env);
    const to = String(options["to"]);
    const { postgresUrl } = await import("../platform/db/postgres-url.ts");
    const { NotAllowed } = await import("../platform/parse.ts");
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(to);
    const ending = { json, failed: "nothing was changed", stopped: "the source was not changed; move again, which begins anew" };
    if (!isUrl) return stoppable(io, ending, () => toFolder(settings, resolve(callerFolder(io.env), to.replace(/^sqlite:/, "")), io));
    try {
      postgresUrl(to);
    } catch (error) {
      throw error instanceof NotAllowed ? new Problem("invalid_request", `--to must be a folder, or ${error.message}`) : error;
    }
    return stoppable(io, ending, () => toPostgres(settings, to, io));
  },
};

async function toPostgres({ databaseUrl, dataDir, secretsKey }: Settings, url: string, io: Io): Promise<Outcome> {
  if (databaseUrl !== "")
    throw new Problem("invalid_request", "DATABASE_URL is set, so the data is in PostgreSQL already: unset it to move what is in DATA_DIR");
  const { moveToPostgres } = await import("../backup/move.ts");
  const { serverOf } = await import("../platform/db/postgres-url.ts");
  const moved = await moveToPostgres(dataDir, url, await progressTo(io));
  const secrets = secretsKey === null ? `SECRETS_KEY_FILE=${join(dataDir, "secrets.key")}` : "SECRETS_KEY as it is now";
  return outcome(moved, `PostgreSQL at ${serverOf(url)}`, [
    `Start every node with DATABASE_URL set to that database, and with ${secrets}; the first one with the same DATA_DIR, which has the counters.`,
    `${dataDir} was not changed, and can be served as before.`,
  ]);
}

async function toFolder({ databaseUrl, dataDir, redisUrl }: Settings, folder: string, io: Io): Promise<Outcome> {
  if (databaseUrl === "")
    throw new Problem(
      "invalid_request",
      "DATABASE_URL is not set: it names the database to move from. To move DATA_DIR, give postgres://…",
    );
  const { moveToFolder } = await import("../backup/move.ts");
  const { countersName } = await import("../backup/manifest.ts");
  const counters = redisUrl === "" ? join(dataDir, countersName) : undefined;
  const moved = await moveToFolder(databaseUrl, folder, counters, await progressTo(io));
  return outcome(moved, folder, [
    `Start the service with DATA_DIR=${folder}, without DATABASE_URL, and with SECRETS_KEY as it is now.`,
    "The database was not changed, and can be served as before.",
  ]);
}

function outcome(moved: { tables: Record<string, { rows: number }>; files: number; bytes: number }, to: string, next: string[]): Outcome {
  const counts = Object.values(moved.tables).map(({ rows }) => rows);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const line = `Moved ${rows} rows of ${counts.length} tables and ${moved.files} files (${moved.bytes} bytes) to ${to}. Counts and checksums are equal.`;
  return { json: { to, ...moved, next }, text: [line, ...next].join("\n") };
}

/** Prints the progress of the move on standard error, at most once a second for each table. */
async function progressTo(io: Io): Promise<(part: string, done: number) => void> {
  const { systemClock } = await import("../platform/clock.ts");
  const tell = linesTo(io);
  let [last, at] = ["", 0];
  return (part, done) => {
    const now = systemClock();
    if (part === last && now - at < progressEveryMs) return;
    [last, at] = [part, now];
    tell(`${part}: ${done} …`);
  };
}
