import { startPostgres, type PostgresProcess } from "./postgres-process.ts";
import { flags, sharedServer } from "./postgres.ts";

let server: PostgresProcess | undefined;

/** Before the first file of a run, or the first measurement: one PostgreSQL for all of them. */
export async function globalSetup(): Promise<void> {
  server = await startPostgres(flags);
  process.env[sharedServer] = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
