import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import type { RowLease, RowLeases } from "../../platform/nodes/row-leases.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { lockProjectOf } from "../projects/projects.store.ts";
import { applyCheck, checkDomain, type Checks } from "./checks.ts";
import { domainChanged } from "./domains.ts";
import { claimChecks, lockCheck } from "./checks.store.ts";
import type { StoredDomain } from "./domains.store.ts";

/** Longer than the slowest look-up. */
const leaseMs = 5 * 60_000;
const pollEveryMs = 1_000;
const atOnceMax = 64;
/** The most checks of one account at once. An account whose DNS servers never answer cannot delay the others. */
const atOnceMaxEach = 32;

type ClaimedCheck = StoredDomain & { lease: RowLease };

/** Checks the DNS of names on schedule (specification 5.5). Calls `verified` when a name is verified. */
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
    everyMs: pollEveryMs,
    onError,
  });
}

function servesDifferently(before: StoredDomain, after: StoredDomain): boolean {
  return after.status !== before.status || after.primary !== before.primary;
}
