import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import type { RowLease, RowLeases } from "../../platform/nodes/row-leases.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { applyCheck, checkDomain, type Checks } from "./checks.ts";
import { domainChanged } from "./domains.ts";
import { claimChecks, holdsCheck } from "./checks.store.ts";
import type { StoredDomain } from "./domains.store.ts";

/** Longer than the slowest look-up takes. */
const leaseMs = 5 * 60_000;
const lookEveryMs = 1_000;
const atOnceMax = 64;
/** So that names of one account whose servers never answer do not hold up everybody's. */
const atOnceMaxEach = 32;

type ClaimedCheck = StoredDomain & { lease: RowLease };

/** Checks names again by themselves as the schedule says (specification 5.5). `verified` is called when a name has become so. */
export function openCheckWorker(parts: {
  db: Database;
  clock: Clock;
  checks: Checks;
  announcer: Announcer;
  leases: RowLeases;
  verified: () => void;
  onError: (error: unknown) => void;
}): Worker {
  const { db, clock, checks, announcer, leases, verified, onError } = parts;

  const running = createTally<number>();

  async function run(domain: ClaimedCheck): Promise<void> {
    try {
      await check(domain);
    } finally {
      running.take(domain.accountId);
    }
  }

  async function check(domain: ClaimedCheck): Promise<void> {
    const checked = await checkDomain(checks, db, domain);
    const after = await db.write(async (tx) => {
      // What another has looked up meanwhile is newer.
      if (!(await holdsCheck(tx, domain, domain.lease))) return null;
      const applied = await applyCheck(checks, tx, domain, checked, { isAsked: false, now: clock() });
      if (applied !== null && isServedOtherwise(domain, applied)) await announcer.publish(tx, domainChanged(applied.hostname));
      return applied;
    });
    if (after === null) return;
    if (isServedOtherwise(domain, after)) await announcer.waitForAll();
    if (after.status === "verified") verified();
  }

  return openWorker({
    claim: async (count) => {
      const claim = await leases.begin(leaseMs);
      if (claim === undefined) return [];
      const share = { count, each: atOnceMaxEach, running: running.counts };
      const claimed = await db.write((tx) => claimChecks(tx, share, claim));
      for (const { accountId } of claimed) running.add(accountId);
      return claimed.map((domain) => ({ ...domain, lease: claim.lease }));
    },
    run,
    atOnceMax,
    everyMs: lookEveryMs,
    onError,
  });
}

function isServedOtherwise(before: StoredDomain, after: StoredDomain): boolean {
  return after.status !== before.status || after.primary !== before.primary;
}
