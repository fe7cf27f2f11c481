import type { KeyVerifier } from "../callers/keys/verify.ts";
import { deleteExpiredPending } from "../callers/members/factors.store.ts";
import { deleteExpiredChallenges } from "../callers/members/passkeys.store.ts";
import { deleteEndedSessions } from "../callers/members/sessions.store.ts";
import type { Recorder } from "../callers/usage/recorder.ts";
import { expireUsage } from "../callers/usage/usage.store.ts";
import { expireEvents } from "../events/log/retention.ts";
import type { Trimmer } from "../events/log/trimming.ts";
import type { NowRange } from "../platform/clock.ts";
import { giveBackFreeSpace } from "../platform/db/batches.ts";
import { forgetOldAnswers } from "../platform/http/idempotency.store.ts";
import { repeat } from "../platform/jobs/runs.ts";
import { expireNodes } from "../platform/nodes/nodes.ts";
import { foldNames } from "../store/pets/folded-names.store.ts";
import type { AppContext } from "./context.ts";
import type { FirstStart } from "./first-start.ts";
import type { LimiterHandle } from "./limiter.ts";

const limitsEveryMs = 1_000;
const usageEveryMs = 5_000;
const usesEveryMs = 10_000;
const cleanEveryMs = 60_000;
const eventsEveryMs = 600_000;
const trimEveryMs = 1_000;
const spaceEveryMs = 1_000;

/** What the jobs sweep and save. */
type JobSubjects = {
  nowRange: () => NowRange;
  verifier: KeyVerifier;
  usage: Recorder;
  counting: LimiterHandle;
  firstStart: FirstStart;
  trimming: Pick<Trimmer, "run">;
};

/** Starts the service's periodic jobs. */
export function startJobs({ settings, db, clock, onError }: AppContext, swept: JobSubjects) {
  const { nowRange, verifier, usage, counting, firstStart, trimming } = swept;
  return [
    repeat(limitsEveryMs, async () => (counting.limiter.sweep(), counting.save()), onError),
    repeat(usageEveryMs, () => usage.flush(), onError),
    repeat(usesEveryMs, () => verifier.saveUses(), onError),
    repeat(cleanEveryMs, () => forgetOldAnswers(db, nowRange(), settings.answersKeptMs), onError),
    repeat(cleanEveryMs, () => expireUsage(db, clock(), settings.usageDaysKept), onError),
    repeat(eventsEveryMs, () => expireEvents(db, clock(), settings), onError),
    repeat(trimEveryMs, () => trimming.run(), onError),
    repeat(spaceEveryMs, () => giveBackFreeSpace(db), onError),
    repeat(cleanEveryMs, () => deleteEndedSessions(db, clock()), onError),
    repeat(cleanEveryMs, () => deleteExpiredPending(db, clock()), onError),
    repeat(cleanEveryMs, () => deleteExpiredChallenges(db, clock()), onError),
    repeat(cleanEveryMs, () => expireNodes(db), onError),
    repeat(cleanEveryMs, () => foldNames(db), onError),
    repeat(cleanEveryMs, () => firstStart.sweep(), onError),
  ];
}
