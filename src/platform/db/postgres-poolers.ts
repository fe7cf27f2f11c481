import type pg from "pg";
import { UnusableServer } from "./postgres-errors.ts";

/** How often a pooler is tried. One that shares server connections shows it at the first try if it is idle, and at one of the next if it is not. */
const triesMax = 20;
/** A pooler's refusal of BEGIN. */
const protocolViolation = "08P01";

const advice =
  "is behind a pooler that gives the statements of one session to different connections (transaction or statement mode): set its pool mode to " +
  "session, or connect to PostgreSQL directly";

/**
 * Makes sure that a pooler keeps a server connection for each session, as pgbouncer does in session mode. The service needs that: settings, prepared
 * statements and LISTEN belong to a session. In any other mode, the session soon runs on another server connection, or its connection is given to the
 * second session, which is open at the same time. Changes nothing on the server's connections.
 *
 * @throws UnusableServer
 */
export async function requireSessions(client: pg.Client, second: pg.Client): Promise<void> {
  const own = await backendOf(client);
  for (let i = 0; i < triesMax; i++) {
    await begin(second);
    const other = await backendOf(second);
    // asked only if the second holds another connection: it might hold the pooler's only one
    const now = other === own ? undefined : await backendOf(client);
    await second.query("ROLLBACK");
    if (now !== own || (await backendOf(client)) !== own) throw new UnusableServer(advice, { isLasting: true });
  }
}

async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]!.pid;
}

/** In statement mode a pooler refuses transactions. */
async function begin(client: pg.Client): Promise<void> {
  try {
    await client.query("BEGIN");
  } catch (error) {
    if ((error as pg.DatabaseError).code === protocolViolation) throw new UnusableServer(advice, { isLasting: true });
    throw error;
  }
}

/** Removes what an earlier session may have left: a pooler may be configured not to do it. */
export async function clear(client: pg.Client): Promise<void> {
  await client.query("DISCARD ALL");
}
