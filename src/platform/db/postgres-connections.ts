import type pg from "pg";
import type { Sql } from "sql-template-tag";
import type { Queryable } from "./database.ts";
import { translate } from "./postgres-errors.ts";
import { openSession, usual, type Session, type Timeouts } from "./postgres-sessions.ts";
import { serverOf } from "./postgres-url.ts";
import type { BoundValue, Statement as FixedStatement } from "./statement.ts";

/** How long (ms) a statement waits for a lock that another transaction holds: well below the time that a caller waits. */
export const lockMs = 2_000;
const idleInTransactionMs = 10_000;

export type Rows = { rows: unknown[]; rowCount: number | null; command: string };

/** A connection that opens when it is first needed, and again after it was lost. */
export type Connection = {
  /** The client, if it is connected. */
  current: () => pg.Client | undefined;
  /** @throws Problem `unavailable` */
  open: () => Promise<pg.Client>;
  /** Buffers statements until the end of this turn of the event loop, so that they are sent together. */
  gather: () => void;
  /** Gives up a client that must not be used again. */
  drop: (client: pg.Client) => void;
  close: () => Promise<void>;
};

/** Checks the database of a new session. */
export type SessionCheck = (db: Pick<Queryable, "query">) => Promise<void>;

/** Makes reads take their order from an index if one has it, even if the planner estimates so few rows that it would sort them. */
export const ordersByIndex = "SET enable_sort = off; SET enable_incremental_sort = off";

/**
 * Opens a connection for statements of requests.
 *
 * @param options.settings further statements that set a session up
 * @param options.check called with each new session; if it throws, the session is not used
 */
export function openConnection(
  url: string,
  onError: (error: unknown) => void,
  { patience = usual, settings = "", check }: { patience?: Timeouts; settings?: string; check?: SessionCheck | undefined } = {},
): Connection {
  let opening: Promise<pg.Client> | undefined;
  let current: Session | undefined;
  let isGathering = false;

  async function connect(): Promise<pg.Client> {
    try {
      const session = await openSession(url, `${settingsOf(patience)}; ${settings}`, { patience, needsPrimary: true });
      const { client } = session;
      if (check) await checked(session, check);
      client.on("error", ({ message }) => {
        lose(client);
        onError(new Error(`PostgreSQL at ${serverOf(url)}: ${message}`)); // the driver's error may hold the client and its settings
      });
      client.on("end", () => lose(client));
      current = session;
      return client;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  function lose(lost: pg.Client): void {
    if (current?.client !== lost) return;
    current = undefined;
    opening = undefined;
  }

  return {
    current: () => current?.client,
    open: () => (opening ??= connect()),
    gather() {
      if (isGathering || !current) return;
      isGathering = true;
      const corked = current.socket;
      corked.cork();
      setImmediate(() => {
        isGathering = false;
        corked.uncork();
      });
    },
    drop(dropped) {
      if (current?.client === dropped) current.socket.destroy();
      lose(dropped);
    },
    async close() {
      const closing = await opening?.catch(() => undefined);
      if (!closing) return;
      lose(closing);
      await closing.end();
    },
  };
}

async function checked({ client, socket }: Session, check: SessionCheck): Promise<void> {
  try {
    await check({ query: async <R>(text: Sql) => (await client.query(statementOf(text))).rows as R[] });
  } catch (error) {
    socket.destroy();
    throw translate(error);
  }
}

/** The settings of a connection. Outside a transaction its statements cannot write, in case a BEGIN is ever lost. */
export function settingsOf(patience: Timeouts = usual): string {
  return `
    SET default_transaction_read_only = on;
    SET statement_timeout = ${patience.statementMs};
    SET lock_timeout = ${lockMs};
    SET idle_in_transaction_session_timeout = ${idleInTransactionMs};
    SET client_min_messages = warning`;
}

/** The most statements that a connection keeps prepared. It parses further ones each time. */
const namesMax = 500;
/** The most values of a prepared statement. Longer ones (batches, lists of ids) come in many lengths and would crowd the others out. */
const namedValuesMax = 24;

/** A statement for `pg`, which prepares it once per connection if it has a name. */
export type Statement = { text: string; values: unknown[]; name?: string; rowMode?: "array" };

const names = new Map<string, string>();

/** @throws TypeError for a value that a statement may not have */
export function statementOf(query: Sql): Statement {
  const { text } = query;
  const values = query.values.map(bound);
  const name = names.get(text) ?? (values.length <= namedValuesMax ? newName(text) : undefined);
  return name === undefined ? { text, values } : { name, text, values };
}

/** A statement of a fixed text, whose rows come as arrays. */
export function fixedStatementOf({ postgres: text }: FixedStatement, values: readonly BoundValue[]): Statement {
  const name = names.get(text) ?? (values.length <= namedValuesMax ? newName(text) : undefined);
  return { text, values: values.map(bound), rowMode: "array", ...(name !== undefined && { name }) };
}

function newName(text: string): string | undefined {
  if (names.size >= namesMax) return undefined;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/** Writes a number as text. Large whole numbers get all their digits, within int64: JavaScript would round the digits, even beyond int64. */
export function bound(value: unknown): string | boolean | null | Uint8Array {
  if (typeof value === "string" || value === null || typeof value === "boolean" || value instanceof Uint8Array) return value;
  if (typeof value !== "number") throw new TypeError(`a value of type ${typeof value} cannot be bound`);
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return String(value);
  const whole = BigInt(value);
  return String(whole > int64Max ? int64Max : whole < int64Min ? int64Min : whole);
}
