import type { Bounds } from "./bounds.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./db/database.ts";
import type { Sweep } from "./jobs/sweep.ts";
import type { Logger } from "./log.ts";
import type { Announcer, Node, RowLeases } from "./nodes/nodes.ts";
import type { SecretsKeys } from "./secrets.ts";

/** What the parts of a running service share. A part takes it whole, or says by `Pick` what it needs of it; what is its own comes beside it. */
export type Context = {
  db: Database;
  /** The steady clock of the process (decision 0117). */
  clock: Clock;
  /** Runs what deletes by time. */
  sweep: Sweep;
  log: Logger;
  /** The keys that encrypt secrets in the database. */
  keys: SecretsKeys;
  /** This process among the nodes. */
  node: Node;
  announcer: Announcer;
  leases: RowLeases;
  bounds: Bounds;
  /** Logs an error of background work. */
  onError: (error: unknown) => void;
};
