import type pg from "pg";
import type { Sql } from "sql-template-tag";
import { directly, stopping, type Around, type Database } from "./database.ts";
import { openConnection, ordersByIndex, statementOf } from "./postgres-connections.ts";
import { breaksConnection, translate, unwritableErrorOf } from "./postgres-errors.ts";
import { transact } from "./postgres-transactions.ts";
import type { SqliteOptions } from "./sqlite.ts";

/** Time-outs of a heartbeat. A slower heartbeat is useless: the lease that it renews has expired. */
const patience = { connectMs: 3_000, statementMs: 1_000 };

/** The part of the port that a node's lease needs. */
export type Heartbeat = Pick<Database, "engine" | "query" | "write" | "close">;

/**
 * One connection that nothing else uses, so that a node can renew its lease however many requests hold or wait for the
 * others. It runs one statement or transaction at a time. If the connection was lost or did not answer in time, the next call
 * opens it again.
 */
export function openPostgresHeartbeat(
  url: string,
  {
    onError,
    onFault = () => undefined,
    around = directly,
  }: Pick<SqliteOptions, "onFault"> & { onError: (error: unknown) => void; around?: Around },
): Heartbeat {
  const connection = openConnection(url, onError, { patience, settings: ordersByIndex });
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  /** Runs work after the work before it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work, work);
    last = done;
    return done;
  }

  async function withClient<T>(operation: Parameters<Around>[0], use: (client: pg.Client) => Promise<T>): Promise<T> {
    return around(operation, () =>
      inTurn(async () => {
        if (closed) throw stopping();
        return use(await connection.open());
      }),
    );
  }

  return {
    engine: "postgres",
    query: <R>(query: Sql) =>
      withClient("SELECT", async (client) => {
        try {
          return (await client.query(statementOf(query))).rows as R[];
        } catch (error) {
          if (breaksConnection(error)) connection.drop(client);
          throw translate(error);
        }
      }),
    write: (body, options = {}) =>
      withClient("transaction", async (client) => {
        const outcome = await transact(client, body, options);
        if (outcome.isBroken) connection.drop(client);
        if (outcome.isCommitted) return outcome.value;
        const unwritable = unwritableErrorOf(outcome.error);
        if (unwritable) onFault("unwritable", unwritable);
        throw outcome.error;
      }),
    async close() {
      closed = true;
      await inTurn(connection.close);
    },
  };
}
