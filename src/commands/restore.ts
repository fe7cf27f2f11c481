import { resolve } from "node:path";
import { callerFolder, loadSettings } from "../app/settings.ts";
import type { Command, Io, Outcome } from "./command.ts";
import { givenPassphrase } from "./input-output.ts";
import { stoppable } from "./stoppable.ts";

export const restore: Command = {
  name: "restore",
  summary: "Restore a backup into an empty DATA_DIR, or into the empty database of DATABASE_URL",
  options: {
    replace: { about: "set the present state aside, instead of refusing to restore over it" },
    "passphrase-file": { value: "FILE", about: "the passphrase that the backup was encrypted with; - reads it from standard input" },
    "with-faults": { about: "restore the data even if it breaks rules that `petstore verify` checks" },
  },
  operands: ["FILE"],
  async run({ options, operands: [file = ""], json }, io) {
    const from = callerFolder(io.env);
    const passphrase = await givenPassphrase(io, options["passphrase-file"], from);
    const { withLocal } = await import("../backup/destinations.ts");
    const settings = () => loadSettings(io.env, { needsSecretsKey: false });
    const given = { passphrase, replace: options["replace"] === true, withFaults: options["with-faults"] === true };
    const ending = {
      json,
      failed: "nothing was changed",
      stopped: "the earlier state or the restored one is whole; run the command again",
    };
    return stoppable(io, ending, () => withLocal(file, resolve(from, file), settings, (path) => restoreFile(io, path, given)));
  },
};

type Given = { passphrase: string | undefined; replace: boolean; withFaults: boolean };

async function restoreFile(io: Io, path: string, { passphrase, replace, withFaults }: Given): Promise<Outcome> {
  const settings = loadSettings(io.env, { needsSecretsKey: false });
  const { bytesOf, checkBackup, withName } = await import("../backup/backup-file.ts");
  const { openArchiveDump } = await import("../backup/archive-dump.ts");
  const { preciseTime } = await import("../backup/backup-names.ts");
  const { requireOwnKeys, requireSecrets, restoreBackup } = await import("../app/backups.ts");
  const { requireTarget } = await import("../backup/restore-folder.ts");
  const { systemClock } = await import("../platform/clock.ts");
  const { progressTo } = await import("./backup-progress.ts");
  if (settings.databaseUrl === "") await requireTarget(settings.dataDir, replace);
  const manifest = await checkBackup(path, passphrase);
  const aside = await withName(path, async () => {
    const open = () => openArchiveDump(bytesOf(path), passphrase, manifest);
    requireSecrets(settings, manifest);
    await requireOwnKeys(manifest, open);
    const time = preciseTime(systemClock());
    return restoreBackup(settings, { manifest, open, replace, withFaults, time, progress: progressTo(io, systemClock) });
  });
  const { rowsOf } = await import("./backup-report.ts");
  const rows = rowsOf(manifest);
  const to = settings.databaseUrl === "" ? settings.dataDir : "the database of DATABASE_URL";
  const madeAt = new Date(manifest.madeAt).toISOString();
  const lines = [`Restored the backup of ${madeAt} with ${rows} rows into ${to}.`];
  if (aside !== null) lines.push(`The earlier state is in ${aside}.`);
  if (settings.databaseUrl !== "" && settings.secretsKey === null && manifest.secrets.isIncluded)
    lines.push(`Its secrets key is in ${settings.dataDir}/secrets.key: set SECRETS_KEY_FILE to this path on every node.`);
  return { json: { file: path, madeAt, rows, to, aside }, text: lines.join("\n") };
}
