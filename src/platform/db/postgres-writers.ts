import pg from "pg";
import { acquireTimed, openFairShare, release, type ShareLoad } from "../jobs/fair-share.ts";
import { optionsOf, prepare, serverOf } from "./postgres-connections.ts";
import { translateConnecting } from "./postgres-errors.ts";
import { openHistogram, waitBounds, type Histogram } from "../metrics.ts";
import type { CallerKey } from "./database.ts";
import { noConnection } from "./unavailable.ts";

/** Connections for transactions, each of which runs one at a time. Two of them are for work without an account. */
export const writersMax = 10;
const writersReserved = 2;
/** The most transactions that wait for a connection, and how long (ms). */
const writesWaitingMax = 2_000;
const waitMs = 5_000;
const idleMs = 30_000;
const lifetimeSeconds = 1_800;

export type Writers = {
  /**
   * Takes a connection for one transaction. The caller gives it back.
   *
   * @param account undefined for work without an account
   * @throws Problem `unavailable`
   */
  take(account: CallerKey | undefined): Promise<{ client: pg.Client; giveBack: (isBroken: boolean) => void }>;
  load(): ShareLoad;
  /** How long (s) work waited for a place, if none was free. */
  waits: Histogram;
  close(): Promise<void>;
};

/** Opens connections for transactions as they are needed, and shares them between accounts. */
export function openWriters(url: string, onError: (error: unknown) => void): Writers {
  const bounds = { max: writersMax, idleTimeoutMillis: idleMs, maxLifetimeSeconds: lifetimeSeconds };
  const hooks = { onConnect: prepare }; // the pool awaits it
  const pool = new pg.Pool({ ...optionsOf(url), ...bounds, ...hooks });
  // the pool attaches the client to the error, which would log its settings
  pool.on("error", ({ message }) => onError(new Error(`PostgreSQL at ${serverOf(url)}: ${message}`)));
  pool.on("connect", (client) => void client.on("error", () => undefined)); // its statements fail with the same error
  const waits = openHistogram(waitBounds);
  const places = openFairShare<CallerKey>({ max: writersMax, reserved: writersReserved, waitingMax: writesWaitingMax, waitMs });

  return {
    load: () => places,
    waits,
    async take(account) {
      const refusal = await acquireTimed(places, account, (seconds) => waits.observe(seconds));
      if (refusal !== undefined) throw noConnection(refusal);
      try {
        const client = await pool.connect();
        return {
          client,
          giveBack(isBroken) {
            client.release(isBroken);
            release(places, account);
          },
        };
      } catch (error) {
        release(places, account);
        throw translateConnecting(error, serverOf(url));
      }
    },
    close: () => pool.end(),
  };
}
