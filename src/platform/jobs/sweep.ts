import sql from "sql-template-tag";
import type { Database } from "../db/database.ts";
import { databaseTime } from "../nodes/nodes.ts";
import type { SteadyClock } from "../steady-clock.ts";
import { repeat } from "./runs.ts";

/** Repeats work that deletes what is too old. `now` is the time to judge by. All work that deletes by time runs in a sweep. */
export type Sweep = (everyMs: number, work: (now: number) => Promise<unknown>) => { stop(): Promise<void> };

/** How far (ms) a database's time may be from this node's: its answer takes a while, and clocks are corrected. */
const differenceMsMax = 60_000;

/** Opens the sweeps of a node. They skip a run while its clock is in doubt. On a shared database they use its time, which is the same for all nodes. */
export function openSweep(
  db: Pick<Database, "engine" | "query">,
  clock: Pick<SteadyClock, "now" | "trouble">,
  onError: (error: unknown) => void,
): Sweep {
  return (everyMs, work) =>
    repeat(
      everyMs,
      async () => {
        if (clock.trouble() !== undefined) return;
        const now = (await readDatabaseTime(db)) ?? clock.now();
        if (Math.abs(now - clock.now()) <= differenceMsMax) await work(now);
      },
      onError,
    );
}

/** The time of a shared database; undefined if this process has its own. */
export async function readDatabaseTime(db: Pick<Database, "engine" | "query">): Promise<number | undefined> {
  if (db.engine === "sqlite") return undefined;
  const [row] = await db.query<{ now: number }>(sql`SELECT ${databaseTime(db.engine)} AS now`);
  return row!.now;
}
