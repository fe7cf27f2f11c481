import { resolve } from "node:path";
import { callerFolder, loadSettings } from "../app/settings.ts";
import type { CheckReport } from "../backup/check.ts";
import { type Command, countOf, type Io, type Outcome, stoppable } from "./command.ts";
import { givenPassphrase } from "./input-output.ts";

export const verify: Command = {
  name: "verify",
  summary: "Check a backup, or the data folder or database of the settings: integrity, stock, references and published files",
  options: {
    "passphrase-file": { value: "FILE", about: "the passphrase that the backup was encrypted with; - reads it from standard input" },
    events: { about: "also check that the event logs are whole and that each resource is as its newest event says" },
  },
  operands: ["[FILE]"],
  async run({ options, operands: [file], json }, io) {
    const from = callerFolder(io.env);
    const ending = { json, failed: "nothing was changed" };
    const withEvents = options["events"] === true;
    if (file === undefined) return stoppable(io, ending, () => verifyService(io, withEvents));
    const passphrase = await givenPassphrase(io, options["passphrase-file"], from);
    const { withLocal } = await import("../backup/destinations.ts");
    const settings = () => loadSettings(io.env, { needsSecretsKey: false });
    return stoppable(io, ending, () => withLocal(file, resolve(from, file), settings, (path) => verifyFile(path, passphrase, withEvents)));
  },
};

async function verifyService(io: Io, withEvents: boolean): Promise<Outcome> {
  const { checkFolder, checkPostgres } = await import("../backup/check.ts");
  const { settleRestoreUnlocked } = await import("../backup/restore-state.ts");
  const { knownKeyIds } = await import("../backup/secrets.ts");
  const settings = loadSettings(io.env, { needsSecretsKey: false });
  const { dataDir, databaseUrl } = settings;
  if (databaseUrl !== "")
    return withRewinds(
      outcomeOf("The database of DATABASE_URL", await checkPostgres(databaseUrl, knownKeyIds(settings), withEvents)),
      databaseUrl,
    );
  await settleRestoreUnlocked(dataDir);
  return outcomeOf(dataDir, await checkFolder(dataDir, knownKeyIds(settings), withEvents));
}

/** Adds what nodes have found of losses of the database. */
async function withRewinds(outcome: Outcome, databaseUrl: string): Promise<Outcome> {
  const { findRewinds, rewindText } = await import("../backup/repeated-ids.ts");
  const rewinds = await findRewinds(databaseUrl);
  if (rewinds.length === 0) return outcome;
  return { ...outcome, json: { ...outcome.json, rewinds }, text: [outcome.text, ...rewinds.map(rewindText)].join("\n") };
}

async function verifyFile(path: string, passphrase: string | undefined, withEvents: boolean): Promise<Outcome> {
  const { openBackup, withName } = await import("../backup/backup-file.ts");
  const { checkArchiveState } = await import("../backup/check.ts");
  const { withFaultsNamed } = await import("../backup/interruption.ts");
  const { requireOwnKeys } = await import("../backup/secrets.ts");
  const archive = await openBackup(path, passphrase);
  const check = () =>
    withName(path, async () => {
      await requireOwnKeys(archive);
      return checkArchiveState(archive, withEvents);
    });
  return outcomeOf(path, await withFaultsNamed("nothing was changed", check, "set TMPDIR to a folder with more"));
}

function outcomeOf(place: string, { faults, rows, files, events }: CheckReport): Outcome {
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const json = { place, whole: faults.length === 0, faults, rows, files, ...(events && { events }) };
  if (faults.length > 0) return { json, text: faults.join("\n"), exitCode: 1 };
  const { accounts = 0, pets = 0, orders = 0 } = rows;
  const counts = [countOf(accounts, "account"), countOf(pets, "pet"), countOf(orders, "order"), countOf(files, "published file")];
  const text = `${place} has no faults: ${counts.join(", ")}; ${countOf(all, "row")} in all.`;
  return { json, text: events ? `${text}\n${eventsText(events)}` : text };
}

function eventsText({ events, resources, unchecked }: NonNullable<CheckReport["events"]>): string {
  const text = `The event logs are whole: ${countOf(events, "event")}, and ${countOf(resources, "resource")} as the newest event says.`;
  if (unchecked === 0) return text;
  return `${text} Not compared, because their last change is not in the log: ${countOf(unchecked, "resource")}.`;
}
