import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer, RowLease, RowLeases } from "../../platform/nodes/nodes.ts";
import type { FairShare } from "../../platform/jobs/fair-share.ts";
import { openWorkerInTurns, type Worker } from "../../platform/jobs/worker.ts";
import { lockProjectOf } from "../projects/projects.store.ts";
import { applyCheck, checkDomain, type Checks } from "./checks.ts";
import { domainChanged } from "./domains.ts";
import { claimChecks, lockCheck } from "./checks.store.ts";
import type { StoredDomain } from "./domain-rows.ts";

/** Longer than the slowest look-up. */
const leaseMs = 5 * 60_000;
const pollEveryMs = 1_000;

type ClaimedCheck = StoredDomain & { lease: RowLease };

/** Checks the DNS of names on schedule (specification 5.5). Calls `verified` when a name is verified. */
export function openCheckWorker(parts: {
  db: Database;
  clock: Clock;
  checks: Checks;
  announcer: Announcer;
  leases: RowLeases;
  /** Accounts take turns, so that an account whose DNS servers never answer cannot delay the others. */
  turns: FairShare<number>;
  verified: () => void;
  onError: (error: unknown) => void;
}): Worker {
  const { db, clock, checks, announcer, leases, turns, verified, onError } = parts;

  async function check(domain: ClaimedCheck): Promise<void> {
    const checked = await checkDomain(checks, db, domain);
    const after = await db.write(async (tx) => {
      await lockProjectOf(tx, domain);
      // Another process has checked the name meanwhile, and its result is newer.
      if (!(await lockCheck(tx, domain, domain.lease))) return null;
      const applied = await applyCheck(checks, tx, domain, checked, { isAsked: false, now: clock() });
      if (applied !== null && servesDifferently(domain, applied)) await announcer.publish(tx, domainChanged(applied.hostname));
      return applied;
    });
    if (after === null) return;
    if (servesDifferently(domain, after)) await announcer.waitForAll();
    if (after.status === "verified") verified();
  }

  return openWorkerInTurns({
    turns,
    claim: async (share) => {
      const claim = await leases.begin(leaseMs);
      if (claim === undefined) return [];
      const claimed = await db.write((tx) => claimChecks(tx, share, claim));
      return claimed.map((domain) => ({ ...domain, lease: claim.lease }));
    },
    run: check,
    everyMs: pollEveryMs,
    onError,
  });
}

function servesDifferently(before: StoredDomain, after: StoredDomain): boolean {
  return after.status !== before.status || after.primary !== before.primary;
}
