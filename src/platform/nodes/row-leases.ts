import sql, { type Sql } from "sql-template-tag";
import type { Clock } from "../clock.ts";
import type { Node } from "./nodes.ts";

/**
 * The lease of a row of work. It ends with the lease of the node, and in any case at `until` (ms), in case that node hangs. The
 * transaction that writes the result of the work checks that the row still has this lease.
 */
export type RowLease = { until: number; leaseId: string };

/** The claim used to lease rows. `isFree` returns an SQL condition: the row whose lease is in these two columns is not leased. */
export type RowClaim = { lease: RowLease; now: number; isFree: (until: Sql, leaseId: Sql) => Sql };

export type RowLeases = {
  /** Makes a claim for `ms` from now; undefined if this node has no lease itself, even after a heartbeat. */
  begin(ms: number): Promise<RowClaim | undefined>;
  /** Whether no other node can have leased the rows of this lease. Reads memory only, so callers may check right before a step that cannot be undone. */
  isHeld(lease: RowLease): boolean;
};

/**
 * Leases of rows, which end with the lease of their node. When a process is killed, paused or cut off, other nodes can lease its rows once
 * its lease has ended; a process that is still running knows by then that its lease has ended.
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
