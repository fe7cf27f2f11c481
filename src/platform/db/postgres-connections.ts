import { Socket } from "node:net";
import pg from "pg";
import { translateConnecting } from "./postgres-errors.ts";
import type { Statement } from "./postgres-statements.ts";
import { unavailable } from "./unavailable.ts";

/** Time for connecting, and for waiting until a connection of the pool is free. */
const connectMs = 5_000;
/** Time for one statement: the server ends it then; should the server be silent, the connection is given up a second later. */
export const statementMs = 5_000;
export const silenceMs = 1_000;
const idleInTransactionMs = 10_000;
const idleMs = 30_000;
const lifetimeSeconds = 1_800;

/** Connections for transactions, one at a time each, and how many transactions may wait for one. */
export const writersMax = 10;
const writesWaitingMax = 1_000;
/** Connections for reads. Each is sent many at once; the next is opened when those before it have this many under way. */
export const readersMax = 4;
const readsShared = 32;
const readsMax = 500;

const int8 = 20;
const numeric = 1_700;
const types = new pg.TypeOverrides();
for (const type of [int8, numeric]) types.setTypeParser(type, Number);

export type Rows = { rows: unknown[]; command: string };

/** Where a server is, as people read it: without user and password. */
function serverOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host || "localhost"}${pathname}`;
}

/**
 * Reads on a few connections, each of which is sent further statements before it has answered the earlier ones
 * (pipelining): that spares both sides most of their system calls. What is sent in one turn of the event loop goes out
 * together. A connection that is lost is opened again by the next read.
 */
export function openReaders(url: string, onError: (error: unknown) => void) {
  const readers = Array.from({ length: readersMax }, () => openReader(url, onError));
  return {
    underWay: () => readers.reduce((sum, reader) => sum + reader.underWay(), 0),
    read(statement: Statement): Promise<Rows> {
      const reader =
        readers.find(({ underWay }) => underWay() < readsShared) ?? readers.toSorted((a, b) => a.underWay() - b.underWay())[0]!;
      if (reader.underWay() >= readsMax) return Promise.reject(unavailable(new Error("too many reads are under way")));
      return reader.read(statement);
    },
    async close(): Promise<void> {
      await Promise.all(readers.map((reader) => reader.close()));
    },
  };
}

function openReader(url: string, onError: (error: unknown) => void) {
  let connection: Promise<pg.Client> | undefined;
  let client: pg.Client | undefined;
  let underWay = 0;
  let batching = false;
  let socket = new Socket();

  async function open(): Promise<pg.Client> {
    socket = new Socket();
    const own = socket;
    const opening = new pg.Client({ ...options(url), stream: () => own });
    opening.on("error", (error) => {
      lose(opening);
      onError(error);
    });
    opening.on("end", () => lose(opening));
    try {
      await opening.connect();
      await prepare(opening);
    } catch (error) {
      connection = undefined;
      own.destroy();
      throw translateConnecting(error, serverOf(url));
    }
    client = opening;
    return opening;
  }

  function lose(lost: pg.Client): void {
    if (client !== lost) return;
    client = undefined;
    connection = undefined;
  }

  async function read(statement: Statement): Promise<Rows> {
    underWay++;
    try {
      const ready = client ?? (await (connection ??= open()));
      batch();
      return await ready.query(statement);
    } finally {
      underWay--;
    }
  }

  function batch(): void {
    if (batching) return;
    batching = true;
    const corked = socket;
    corked.cork();
    setImmediate(() => {
      batching = false;
      corked.uncork();
    });
  }

  return {
    underWay: () => underWay,
    read,
    async close(): Promise<void> {
      const closing = await connection?.catch(() => undefined);
      await closing?.end();
    },
  };
}

/** Connections for transactions, as many as are needed and at most `writersMax`. */
export function openWriters(url: string, onError: (error: unknown) => void) {
  const bounds = { max: writersMax, idleTimeoutMillis: idleMs, maxLifetimeSeconds: lifetimeSeconds };
  const hooks = { onConnect: prepare }; // which the pool awaits
  const pool = new pg.Pool({ ...options(url), ...bounds, ...hooks });
  // the pool hangs the client on the error, with all that it knows
  pool.on("error", ({ message }) => onError(new Error(`PostgreSQL at ${serverOf(url)}: ${message}`)));
  pool.on("connect", (client) => void client.on("error", () => undefined)); // its statements fail with the same error

  return {
    /** A connection of its own until it is given back. @throws Problem `unavailable` */
    async take(): Promise<{ client: pg.Client; giveBack: (isBroken: boolean) => void }> {
      if (pool.waitingCount >= writesWaitingMax) throw unavailable(new Error("too many transactions wait for a connection"));
      const client = await pool.connect().catch((error: unknown) => {
        throw translateConnecting(error, serverOf(url));
      });
      return { client, giveBack: (isBroken) => client.release(isBroken) };
    },
    close: () => pool.end(),
  };
}

function options(url: string) {
  return {
    connectionString: url,
    application_name: "petstore",
    keepAlive: true,
    pipeline: true,
    types,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs + silenceMs,
  };
}

/** A statement outside of a transaction cannot write, should a BEGIN ever be lost on its way. */
async function prepare(client: pg.ClientBase): Promise<void> {
  await client.query(`
    SET default_transaction_read_only = on;
    SET statement_timeout = ${statementMs};
    SET idle_in_transaction_session_timeout = ${idleInTransactionMs};
    SET client_min_messages = warning`);
}
