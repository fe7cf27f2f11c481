import { basename, dirname } from "node:path";
import type { Database } from "../platform/db/database.ts";
import { migrate, migrationsFor, NewerDataError } from "../platform/db/migrate.ts";
import { copyBeforeUpgrade, copyToGoBackTo } from "../platform/db/sqlite-copies.ts";
import type { Logger } from "../platform/log.ts";
import { foldNames } from "../store/pets/folded-names.store.ts";

/** `copy` is the path of the embedded database as it was before; undefined if the database was new, or is on PostgreSQL. */
export type Upgrade = { migrated: string[]; isNew: boolean; copy: string | undefined };

/**
 * Brings the database up to date. Copies the embedded one first if a migration is missing.
 *
 * @param file path of the embedded database
 * @throws HistoryError, CopyError; for data of a newer version an Error that says how to go back
 */
export async function upgrade(db: Database, file: string, now: number): Promise<Upgrade> {
  const migrations = migrationsFor(db.engine);
  try {
    const copy = db.engine === "sqlite" ? copyBeforeUpgrade(file, migrations, now) : undefined;
    const migrated = await migrate(db, now, migrations);
    await foldNames(db);
    return { migrated, isNew: migrated.length === migrations.length, copy };
  } catch (error) {
    if (!(error instanceof NewerDataError)) throw error;
    const wayBack = db.engine === "sqlite" ? wayBackOf(file, copyToGoBackTo(file, error.last)) : wayBackOnPostgres;
    throw new Error(`${error.message}: start that version, or ${wayBack}`, { cause: error });
  }
}

const wayBackOnPostgres =
  "restore a backup from before the upgrade (`petstore backup`, pg_dump) into an empty database, which then lacks later writes";

/** What to do to use an earlier version again. */
function wayBackOf(file: string, copy: string | undefined): string {
  if (copy === undefined) return "restore a backup from before the upgrade, which lacks later writes";
  const folder = dirname(file);
  return (
    `go back to the copy from before the upgrade, which lacks later writes: in ${folder}, ` +
    `mkdir set-aside && mv petstore.db* set-aside/ && cp ${basename(copy)} petstore.db`
  );
}

/** Logs an upgrade of existing data, and the way back. */
export function logUpgrade(log: Logger, { migrated, copy }: Upgrade): void {
  if (copy === undefined) log.info({ migrated }, "the database was upgraded: to go back, restore a backup from before the upgrade");
  else
    log.info({ migrated, copy }, "the database was upgraded: to go back, start the earlier version on the copy, which lacks later writes");
}
