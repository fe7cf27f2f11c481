import sql, { type Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Node } from "./nodes.ts";

/**
 * What a row of work is held by: in the name of a node's leaseId, and until a time (ms), should that node hang. Whoever writes what came
 * of the work makes sure, in the same transaction, that the row is still held by it.
 */
export type RowLease = { until: number; leaseId: string };

/** What rows are taken with. `isFree` is SQL: whether nobody holds a row, whose lease is in two columns. */
export type RowClaim = { lease: RowLease; now: number; isFree: (until: Sql, leaseId: Sql) => Sql };

export type RowLeases = {
  /** What rows can be taken with for `ms` now; undefined where this node has no lease itself, even after a beat. */
  begin(ms: number): Promise<RowClaim | undefined>;
  /** Whether nobody else can have taken what is held by it. Told from memory, so that it may be asked right before what cannot be undone. */
  isHeld(lease: RowLease): boolean;
};

/**
 * Leases of rows that end with the lease of their node: what a process held that was killed, paused or cut off is free for others from then
 * on, and one that is still there knows it by then.
 */
export function openRowLeases(node: Pick<Node, "heartbeat" | "leaseId" | "hasEnded">, clock: Clock): RowLeases {
  return {
    async begin(ms) {
      if (node.leaseId() === undefined) await node.heartbeat();
      const [leaseId, now] = [node.leaseId(), clock()];
      if (leaseId === undefined) return undefined;
      const isFree: RowClaim["isFree"] = (until, of) => sql`(${until} IS NULL OR ${until} <= ${now} OR ${node.hasEnded(of)})`;
      return { lease: { until: now + ms, leaseId }, now, isFree };
    },
    isHeld: ({ until, leaseId }) => node.leaseId() === leaseId && clock() < until,
  };
}
