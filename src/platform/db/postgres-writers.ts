import pg from "pg";
import type { Bounds } from "../bounds.ts";
import { queues } from "../queues.ts";
import { acquireTimed, release, type FairShare } from "../jobs/fair-share.ts";
import { optionsOf, prepare, serverOf } from "./postgres-connections.ts";
import { translateConnecting } from "./postgres-errors.ts";
import { openHistogram, waitBounds, type Histogram } from "../metrics.ts";
import type { CallerKey } from "./database.ts";

/** Connections for transactions, each of which runs one at a time. */
export const writersMax = queues.connections_writes.max;
const idleMs = 30_000;
const lifetimeSeconds = 1_800;

type Connection = { client: pg.Client; giveBack: (isBroken: boolean) => void };

export type Writers = {
  /** The places among the connections. */
  places: FairShare<CallerKey>;
  /** Waits for a place. Work that has one goes on with `connect`. @throws Problem `unavailable` if it gets none */
  awaitPlace(caller: CallerKey | undefined): Promise<void>;
  /**
   * Takes a connection for one transaction of a caller, which holds a place already. The caller gives it back, and the place with it.
   *
   * @throws Problem `unavailable`, after giving the place back
   */
  connect(caller: CallerKey | undefined): Promise<Connection>;
  /** How long (s) work waited for a place, if none was free. */
  waits: Histogram;
  close(): Promise<void>;
};

/** Opens connections for transactions as they are needed, and shares them between callers. */
export function openWriters(url: string, bounds: Pick<Bounds, "queue">, onError: (error: unknown) => void): Writers {
  const settings = { max: writersMax, idleTimeoutMillis: idleMs, maxLifetimeSeconds: lifetimeSeconds };
  const hooks = { onConnect: prepare }; // the pool awaits it
  const pool = new pg.Pool({ ...optionsOf(url), ...settings, ...hooks });
  // the pool attaches the client to the error, which would log its settings
  pool.on("error", ({ message }) => onError(new Error(`PostgreSQL at ${serverOf(url)}: ${message}`)));
  pool.on("connect", (client) => void client.on("error", () => undefined)); // its statements fail with the same error
  const waits = openHistogram(waitBounds);
  const places = bounds.queue<CallerKey>("connections_writes");

  async function connect(caller: CallerKey | undefined): Promise<Connection> {
    const begunAt = places.usage.now();
    const end = (): void => release(places, caller, places.usage.now() - begunAt);
    try {
      const client = await pool.connect();
      return {
        client,
        giveBack(isBroken) {
          client.release(isBroken);
          end();
        },
      };
    } catch (error) {
      end();
      throw translateConnecting(error, serverOf(url));
    }
  }

  return {
    places,
    waits,
    connect,
    async awaitPlace(caller) {
      const refusal = await acquireTimed(places, caller, (seconds) => waits.observe(seconds));
      if (refusal !== undefined) throw places.refusal(refusal);
    },
    close: () => pool.end(),
  };
}
