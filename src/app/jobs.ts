import type { KeyVerifier } from "../callers/keys/verify.ts";
import { deleteExpiredPending } from "../callers/members/factors.store.ts";
import { deleteExpiredChallenges } from "../callers/members/passkeys.store.ts";
import { deleteEndedSessions } from "../callers/members/sessions.store.ts";
import { expireRequests } from "../callers/usage/request-log.store.ts";
import { keptMs as requestsKeptMs } from "../callers/usage/request-recorder.ts";
import { expireUsage } from "../callers/usage/usage.store.ts";
import { expireEvents } from "../events/log/retention.ts";
import type { Trimmer } from "../events/log/trimming.ts";
import type { NowRange } from "../platform/clock.ts";
import { giveBackFreeSpace } from "../platform/db/batches.ts";
import { forgetOldAnswers } from "../platform/http/idempotency.store.ts";
import { repeat } from "../platform/jobs/runs.ts";
import { expireNodes } from "../platform/nodes/nodes.ts";
import { daysKept, dayOf } from "../publishing/storefront/page-view-counter.ts";
import { expireBin } from "../store/bin/bin.store.ts";
import { expireContacts } from "../store/contacts/contacts.store.ts";
import { foldNames } from "../store/pets/folded-names.store.ts";
import { lapseReservations } from "../store/reservations/reservation-answers.store.ts";
import { expireReservations } from "../store/reservations/reservations.store.ts";
import type { AppContext } from "./context.ts";
import type { FirstStart } from "./first-start.ts";
import type { LimiterHandle } from "./limiter.ts";

const limitsEveryMs = 1_000;
const usageEveryMs = 5_000;
const usesEveryMs = 10_000;
const cleanEveryMs = 60_000;
const eventsEveryMs = 600_000;
const lapseEveryMs = 10_000;
const trimEveryMs = 1_000;
const spaceEveryMs = 1_000;

/** What the jobs sweep and save. */
type JobSubjects = {
  nowRange: () => NowRange;
  verifier: KeyVerifier;
  /** Saves what is counted in memory. */
  flushUsage: () => Promise<void>;
  counting: LimiterHandle;
  firstStart: FirstStart;
  trimming: Pick<Trimmer, "run">;
};

/** Starts the service's periodic jobs. */
export function startJobs({ settings, db, sweep, onError }: AppContext, swept: JobSubjects) {
  const { nowRange, verifier, flushUsage, counting, firstStart, trimming } = swept;
  return [
    repeat(limitsEveryMs, async () => (counting.limiter.sweep(), counting.save()), onError),
    repeat(usageEveryMs, flushUsage, onError),
    repeat(usesEveryMs, () => verifier.saveUses(), onError),
    sweep(cleanEveryMs, () => forgetOldAnswers(db, nowRange(), settings.answersKeptMs)),
    sweep(cleanEveryMs, (now) => expireUsage(db, now, settings.usageDaysKept)),
    sweep(cleanEveryMs, (now) => expireRequests(db, now - requestsKeptMs)),
    sweep(eventsEveryMs, (now) => expireViews(db, now)),
    sweep(eventsEveryMs, (now) => expireEvents(db, now, settings)),
    sweep(eventsEveryMs, (now) => expireContacts(db, now)),
    sweep(lapseEveryMs, (now) => lapseReservations(db, now, onError)),
    sweep(eventsEveryMs, (now) => expireReservations(db, now)),
    sweep(eventsEveryMs, (now) => expireBin(db, now)),
    repeat(trimEveryMs, () => trimming.run(), onError),
    repeat(spaceEveryMs, () => giveBackFreeSpace(db), onError),
    sweep(cleanEveryMs, (now) => deleteEndedSessions(db, now)),
    sweep(cleanEveryMs, (now) => deleteExpiredPending(db, now)),
    sweep(cleanEveryMs, (now) => deleteExpiredChallenges(db, now)),
    sweep(cleanEveryMs, () => expireNodes(db)),
    repeat(cleanEveryMs, () => foldNames(db), onError),
    repeat(cleanEveryMs, () => firstStart.sweep(), onError),
  ];
}

/** Loads the statement with the first sweep: a start should load as little as it can. */
async function expireViews(db: AppContext["db"], now: number): Promise<void> {
  const { expirePageViews } = await import("../publishing/storefront/page-views.store.ts");
  await expirePageViews(db, dayOf(now) - daysKept + 1);
}
