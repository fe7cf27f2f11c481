import { startPostgres, type PostgresProcess } from "./postgres-process.ts";
import { flags, sharedServer } from "./postgres.ts";
import { makeMigratedFile } from "./sqlite-template.ts";

let server: PostgresProcess | undefined;
let removeFile: (() => void) | undefined;

/** Before the first file of a run, or the first measurement: one PostgreSQL and one migrated embedded database for all of them. */
export async function globalSetup(): Promise<void> {
  server = await startPostgres(flags);
  process.env[sharedServer] = server.url;
  removeFile = await makeMigratedFile();
}

export async function globalTeardown(): Promise<void> {
  removeFile?.();
  await server?.remove();
}
