import type { Context } from "../../platform/context.ts";
import type { Transaction } from "../../platform/db/database.ts";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";
import { createTally, type Tally } from "../../platform/jobs/tally.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { Problem } from "../../platform/problem.ts";
import { queues } from "../../platform/queues.ts";
import { unpackArchive } from "./archive.ts";
import {
  claimDeployments,
  claimFiles,
  failDeployment,
  finishDeployment,
  giveBack,
  hasUnusedFiles,
  isUploadTaken,
  saveManifest,
  noteUnusedFiles,
  pruneDeployments,
  type WaitingDeployment,
} from "./deployments.store.ts";
import { failureOf, type ClaimedFile, type UnpackedSite } from "./deployments.ts";
import type { ProjectFile } from "./project-file.ts";
import { lockProject, switchDeployment } from "./projects.store.ts";
import { projectChanged } from "./projects.ts";
import type { Content } from "./shared-content.ts";
import type { Uploads } from "./uploads.ts";

/** What deployments need beside the context. */
export type DeploymentContext = {
  uploads: Uploads;
  content: Content;
  /** The longest that an upload may take to be unpacked (ms). Default: that of the queue. */
  turnMs?: number;
  /** How many deployments of each project are kept. */
  kept: number;
  /**
   * Checks the `domains` of a `petstore.json`. Returns the function that applies and announces them in the transaction of the switch. Both
   * throw the Problem that refuses them.
   */
  domains: (
    project: { accountId: number; projectId: number },
    config: ProjectFile["domains"],
  ) => Promise<(tx: Transaction, now: number) => Promise<void>>;
};

/** Longer than the largest archive takes. Frees the deployments of a node that hangs but still sends heartbeats. */
const leaseMs = 10 * 60_000;
const pollEveryMs = 1_000;
/** The wait before a new attempt, after an error. Each attempt reads the whole archive. */
const retryMs = 5_000;
const removedAtOnce = 200;
/** An upload that was being unpacked as often when the process ended is not tried again, because it may be the reason. */
const attemptsMax = 2;

/** Shared by the deployments of one worker. */
type Deployments = Pick<Context, "db" | "clock" | "announcer" | "leases" | "bounds" | "onError"> &
  DeploymentContext & {
    /** Deployments that have a place or are about to take it, by account. */
    running: Tally<number>;
    unpacking: FairShare<number>;
    compressing: FairShare<number>;
  };

/**
 * Unpacks waiting deployments, a few at once, with accounts in turn, and switches each project to the result. A deployment is ready when
 * every node serves it. The rows are the queue, for all nodes: a deployment is claimed when a place for it is free.
 */
export function openDeploymentWorker(
  context: Pick<Context, "db" | "clock" | "announcer" | "leases" | "bounds" | "onError">,
  deploying: DeploymentContext,
): Worker {
  const { bounds, onError } = context;
  const [unpacking, compressing] = [bounds.queue<number>("unpacking"), bounds.queue<number>("compressing")];
  const shared: Deployments = { ...context, ...deploying, running: createTally<number>(), unpacking, compressing };
  const removal = openRemoval(shared);
  const deployments = openWorker({
    claim: (count) => claimWaiting(shared, count),
    run: (waiting, stopping) =>
      runInTurn(unpacking, waiting.accountId, () => deploy(shared, waiting, stopping)).finally(() => {
        shared.running.take(waiting.accountId);
        removal.wake();
      }),
    atOnceMax: unpacking.max,
    everyMs: pollEveryMs,
    onError,
  });
  const workers = [deployments, removal];
  return {
    wake: () => workers.forEach((worker) => worker.wake()),
    idle: async () => {
      for (const worker of workers) await worker.idle();
    },
    stop: async () => void (await Promise.all(workers.map((worker) => worker.stop()))),
  };
}

/** Removes unused files, some at once. No upload waits for it: an account that deletes its projects may leave hundreds of thousands. */
function openRemoval({ db, content, onError }: Deployments): Worker {
  return openWorker({
    claim: async () => {
      const isMore = (await db.scan(() => hasUnusedFiles(db))) && (await content.remove(removedAtOnce)) > 0;
      return isMore ? [undefined] : [];
    },
    run: async () => undefined,
    atOnceMax: 1,
    everyMs: pollEveryMs,
    onError,
  });
}

async function claimWaiting(shared: Deployments, count: number): Promise<WaitingDeployment[]> {
  const { db, leases, running, unpacking } = shared;
  const claim = await leases.begin(leaseMs);
  if (claim === undefined) return [];
  const claimed = await db.write((tx) =>
    claimDeployments(tx, { count, maxPerAccount: unpacking.maxPerKey, running: running.counts }, claim),
  );
  for (const { accountId } of claimed) running.add(accountId);
  return claimed;
}

async function deploy(shared: Deployments, waiting: WaitingDeployment, stopping: AbortSignal): Promise<void> {
  const { db, clock, content, uploads, onError } = shared;
  const claimed: string[] = [];
  try {
    if (!(await publish(shared, waiting, claimed, stopping))) await db.write((tx) => noteUnusedFiles(tx, claimed));
  } catch (error) {
    // If this fails, the next attempt begins when the lease ends.
    await db.write((tx) => giveBack(tx, waiting, clock() + (stopping.aborted ? 0 : retryMs))).catch(onError);
    throw error;
  } finally {
    content.release(claimed);
  }
  // Another process that has taken the deployment over still needs the upload.
  if (await isUploadTaken(db, waiting.upload)) await db.write((tx) => giveBack(tx, waiting, clock()));
  else await uploads.remove(waiting.upload);
}

/** Returns whether the deployment is ready; if not, saves the reason. Adds the hashes of its files to `claimed`. */
async function publish(shared: Deployments, waiting: WaitingDeployment, claimed: string[], stopping: AbortSignal): Promise<boolean> {
  const { announcer, onError } = shared;
  try {
    if (waiting.attempts > attemptsMax) throw endedTooOften();
    const unpacked = await unpack(shared, waiting, claimed, stopping);
    if (!(await switchProject(shared, waiting, unpacked))) return false;
  } catch (error) {
    if (stopping.aborted) throw error;
    if (!(error instanceof Problem) || error.code === "internal") onError(error);
    if (error instanceof Problem && error.code === "unavailable") throw error; // the database is busy
    await finish(shared, waiting, (tx) => failDeployment(tx, waiting, failureOf(error)));
    return false;
  }
  await announcer.waitForAll();
  return finish(shared, waiting, (tx) => finishDeployment(tx, waiting));
}

async function unpack(shared: Deployments, waiting: WaitingDeployment, claimed: string[], stopping: AbortSignal): Promise<UnpackedSite> {
  const { uploads, content, compressing, turnMs = queues.unpacking.turnMs } = shared;
  const { accountId, upload } = waiting;
  const late = AbortSignal.timeout(turnMs);
  try {
    return await unpackArchive(uploads.read(upload), {
      content,
      claim: (files) => content.claim(accountId, () => claimContent(shared, waiting, files, claimed)),
      compressInTurn: (compress) => runInTurn(compressing, accountId, compress),
      signal: AbortSignal.any([stopping, late]),
    });
  } catch (error) {
    throw late.aborted && !(error instanceof Problem) ? tookTooLong(turnMs) : error;
  }
}

/** Both reasons stay with the deployment, and no client gets them as an answer. */
function endedTooOften(): Problem {
  return new Problem(
    "internal",
    "The service ended twice while it unpacked this upload, so it did not try a third time. Upload it again. If this happens again, pack fewer or smaller files.",
  );
}

function tookTooLong(ms: number): Problem {
  return new Problem(
    "invalid_request",
    `The upload took longer than ${ms / 1_000} seconds to unpack. Upload it again when the service is less busy, or with fewer or smaller files.`,
  );
}

/**
 * Claims the files of a deployment. Locks the project, because deleting a project frees the files of its deployments. Deletes the oldest
 * deployment now rather than when this one is ready, so that its bytes make room for this one.
 *
 * @throws Problem `storage_limit_reached`
 */
async function claimContent(
  { db, content, kept }: Deployments,
  waiting: WaitingDeployment,
  files: ClaimedFile[],
  claimed: string[],
): Promise<void> {
  const { accountId, projectId } = waiting;
  const hashes = files.map(({ hash }) => hash);
  content.pin(hashes);
  claimed.push(...hashes);
  await db.write(async (tx) => {
    const { deploymentId } = await lockProject(tx, accountId, projectId);
    await pruneDeployments(tx, accountId, projectId, deploymentId, kept - 1);
    await claimFiles(tx, waiting, files);
  });
}

/** Returns false if another process has taken the deployment over. */
async function switchProject(shared: Deployments, waiting: WaitingDeployment, unpacked: UnpackedSite): Promise<boolean> {
  const { db, clock, announcer, domains } = shared;
  const { accountId, id, projectId } = waiting;
  const applyDomains = await domains({ accountId, projectId }, unpacked.projectFile.domains);
  return db.write(async (tx) => {
    await lockProject(tx, accountId, projectId);
    if (!(await saveManifest(tx, waiting, unpacked))) return false;
    await switchDeployment(tx, accountId, projectId, id);
    await applyDomains(tx, clock());
    await announcer.publish(tx, projectChanged(accountId, projectId));
    return true;
  });
}

/** Writes the final status. Returns false if the project is gone, or if another process has taken the deployment over. */
function finish(
  { db, kept }: Deployments,
  { accountId, projectId }: WaitingDeployment,
  write: (tx: Transaction) => Promise<boolean>,
): Promise<boolean> {
  return db
    .write(async (tx) => {
      const { deploymentId } = await lockProject(tx, accountId, projectId);
      if (!(await write(tx))) return false;
      await pruneDeployments(tx, accountId, projectId, deploymentId, kept);
      return true;
    })
    .catch(falseIfGone);
}

function falseIfGone(error: unknown): false {
  if (error instanceof Problem && error.code === "not_found") return false;
  throw error;
}
