import { resolve } from "node:path";
import { callerFolder, loadSettings } from "../app/settings.ts";
import { progressTo, rowsOf } from "./backup.ts";
import { type Command, type Io, type Outcome, stoppable } from "./command.ts";
import { givenPassphrase } from "./input-output.ts";

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

type RestoreArguments = { passphrase: string | undefined; replace: boolean; withFaults: boolean };

async function restoreFile(io: Io, path: string, { passphrase, replace, withFaults }: RestoreArguments): Promise<Outcome> {
  const settings = loadSettings(io.env, { needsSecretsKey: false });
  const { dataDir, databaseUrl, secretsKey } = settings;
  const { openBackup, withName } = await import("../backup/backup-file.ts");
  const { requireTarget, restoreIntoFolder } = await import("../backup/restore-folder.ts");
  const { requireOwnKeys, requireSecrets } = await import("../backup/secrets.ts");
  if (databaseUrl === "") await requireTarget(dataDir, replace);
  const archive = await openBackup(path, passphrase);
  const { manifest } = archive;
  const aside = await withName(path, async () => {
    requireSecrets(settings, manifest);
    await requireOwnKeys(archive);
    const given = { archive, replace, withFaults, progress: progressTo(io) };
    if (databaseUrl === "") return restoreIntoFolder(dataDir, given);
    const { restoreIntoPostgres } = await import("../backup/restore-postgres.ts");
    return restoreIntoPostgres(settings, given);
  });
  const rows = rowsOf(manifest);
  const to = databaseUrl === "" ? dataDir : "the database of DATABASE_URL";
  const madeAt = new Date(manifest.madeAt).toISOString();
  const lines = [`Restored the backup of ${madeAt} with ${rows} rows into ${to}.`];
  if (aside !== null) lines.push(`The earlier state is in ${aside}.`);
  if (databaseUrl !== "" && secretsKey === null && manifest.secrets.isIncluded)
    lines.push(`Its secrets key is in ${dataDir}/secrets.key: set SECRETS_KEY_FILE to this path on every node.`);
  return { json: { file: path, madeAt, rows, to, aside }, text: lines.join("\n") };
}
