import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import type { Checks } from "./checks.ts";
import { domainChanged } from "./domains.ts";
import { claimChecks, type StoredDomain } from "./domains.store.ts";

/** Longer than the slowest look-up takes. */
const leaseMs = 5 * 60_000;
const lookEveryMs = 1_000;
const atOnceMax = 64;
/** So that names of one account whose servers never answer do not hold up everybody's. */
const atOnceMaxEach = 32;

/** Checks names again by themselves as the schedule says (spec part 1, rule 7; decisions, part 5). `verified` is called when a name has become so. */
export function openChecking(parts: {
  db: Database;
  clock: Clock;
  checks: Checks;
  announcer: Announcer;
  verified: () => void;
  onError: (error: unknown) => void;
}): Worker {
  const { db, clock, checks, announcer, verified, onError } = parts;

  const running = createTally<number>();

  async function run(domain: StoredDomain): Promise<void> {
    try {
      await check(domain);
    } finally {
      running.take(domain.accountId);
    }
  }

  async function check(domain: StoredDomain): Promise<void> {
    const checked = await checks.check(db, domain);
    const after = await db.write(async (tx) => {
      const applied = await checks.apply(tx, domain, checked, false, clock());
      if (applied !== null && applied.status !== domain.status) await announcer.announce(tx, domainChanged(applied.hostname));
      return applied;
    });
    if (after === null) return;
    if (after.status !== domain.status) await announcer.settled();
    if (after.status === "verified") verified();
  }

  return openWorker({
    claim: async (count) => {
      const now = clock();
      const claimed = await db.write((tx) => claimChecks(tx, { count, each: atOnceMaxEach, running: running.counts }, now, now + leaseMs));
      for (const { accountId } of claimed) running.add(accountId);
      return claimed;
    },
    run,
    atOnceMax,
    everyMs: lookEveryMs,
    onError,
  });
}
