import type { Clock } from "../../platform/clock.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { slots } from "../../platform/jobs/fair-share.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import type { RowLeases } from "../../platform/nodes/row-leases.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { Problem } from "../../platform/problem.ts";
import { unpackArchive, type UnpackedArchive } from "./archive.ts";
import type { Content } from "./shared-content.ts";
import { deploymentsKept, failureOf, type ClaimedFile } from "./deployments.ts";
import {
  claimDeployments,
  claimFiles,
  failDeployment,
  finishDeployment,
  hasUnusedFiles,
  isUploadTaken,
  keepManifest,
  noteUnusedFiles,
  pruneDeployments,
  type WaitingDeployment,
} from "./deployments.store.ts";
import type { ProjectFile } from "./project-file.ts";
import { projectChanged } from "./projects.ts";
import { lockProject, switchDeployment } from "./projects.store.ts";
import type { Uploads } from "./uploads.ts";

export type DeployingParts = {
  db: Database;
  clock: Clock;
  uploads: Uploads;
  content: Content;
  announcer: Announcer;
  leases: RowLeases;
  /**
   * Checks the `domains` of a `petstore.json` and gives what applies them, to be run in the transaction of the switch, and announces it.
   * Both raise the Problem that refuses them.
   */
  domains: (
    project: { accountId: number; projectId: number },
    wanted: ProjectFile["domains"],
  ) => Promise<(tx: Transaction, now: number) => Promise<void>>;
  onError: (error: unknown) => void;
};

/** Longer than the largest archive takes; a node that hangs, though it beats, gives the deployment to another after this time. */
const leaseMs = 10 * 60_000;
const lookEveryMs = 1_000;
const removedAtOnce = 200;
const atOnceMax = 4;
/** So that large uploads of one account do not hold up everybody's. */
const atOnceMaxEach = 2;

/**
 * Unpacks waiting deployments, a few at once and of the accounts in turn, and switches each project to what came out (decisions, part 5). A
 * deployment is ready when every node serves it.
 */
export function openDeploying(parts: DeployingParts): Worker {
  const { db, clock, uploads, content, announcer, leases, onError } = parts;
  const running = createTally<number>();
  /** Files are claimed, or unused ones go: what was found unused may be what is claimed next. */
  const alone = slots(1);

  async function deploy(waiting: WaitingDeployment): Promise<void> {
    const claimed: string[] = [];
    try {
      if (!(await isReady(waiting, claimed))) await db.write((tx) => noteUnusedFiles(tx, claimed));
    } finally {
      content.release(claimed);
      running.take(waiting.accountId);
    }
    // One that another process has taken over is still needed.
    if (!(await isUploadTaken(db, waiting.upload))) await uploads.remove(waiting.upload);
  }

  /** Whether the deployment came to be ready; if not, why is written. */
  async function isReady(waiting: WaitingDeployment, claimed: string[]): Promise<boolean> {
    try {
      const unpacked = await unpackArchive(uploads.read(waiting.upload), content, (files) => alone(() => claim(waiting, files, claimed)));
      if (!(await serve(waiting, unpacked))) return false;
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "internal") onError(error);
      if (error instanceof Problem && error.code === "unavailable") throw error; // the store is busy: the lease brings it back
      await end(waiting, (tx) => failDeployment(tx, waiting, failureOf(error)));
      return false;
    }
    await announcer.waitForAll();
    return end(waiting, (tx) => finishDeployment(tx, waiting));
  }

  /**
   * With the project locked, since its deletion frees what its deployments have claimed. The oldest deployment goes now, not when this one
   * has ended, so that its bytes are room for this one.
   *
   * @throws Problem `storage_limit_reached`
   */
  async function claim(waiting: WaitingDeployment, files: ClaimedFile[], claimed: string[]): Promise<void> {
    const { accountId, projectId } = waiting;
    const hashes = files.map(({ hash }) => hash);
    content.hold(hashes);
    claimed.push(...hashes);
    await db.write(async (tx) => {
      const { deploymentId } = await lockProject(tx, accountId, projectId);
      await pruneDeployments(tx, accountId, projectId, deploymentId, deploymentsKept - 1);
      await claimFiles(tx, waiting, files);
    });
  }

  /** Switches the project; false where another process has taken the deployment over. */
  async function serve(waiting: WaitingDeployment, unpacked: UnpackedArchive): Promise<boolean> {
    const { accountId, id, projectId } = waiting;
    const applyDomains = await parts.domains({ accountId, projectId }, unpacked.projectFile.domains);
    return db.write(async (tx) => {
      await lockProject(tx, accountId, projectId);
      if (!(await keepManifest(tx, waiting, unpacked))) return false;
      await switchDeployment(tx, accountId, projectId, id);
      await applyDomains(tx, clock());
      await announcer.publish(tx, projectChanged(accountId, projectId));
      return true;
    });
  }

  /** Gives a deployment its last state; false where the project is gone, or another process has taken the deployment over. */
  function end({ accountId, projectId }: WaitingDeployment, write: (tx: Transaction) => Promise<boolean>): Promise<boolean> {
    return db
      .write(async (tx) => {
        const { deploymentId } = await lockProject(tx, accountId, projectId);
        if (!(await write(tx))) return false;
        await pruneDeployments(tx, accountId, projectId, deploymentId);
        return true;
      })
      .catch(unlessGone);
  }

  async function removeUnused(): Promise<void> {
    while ((await hasUnusedFiles(db)) && (await alone(() => content.remove(removedAtOnce))) > 0);
  }

  return openWorker({
    claim: async (count) => {
      await removeUnused().catch(onError);
      const by = await leases.begin(leaseMs);
      if (by === undefined) return [];
      const share = { count, each: atOnceMaxEach, running: running.counts };
      const claimed = await db.write((tx) => claimDeployments(tx, share, by));
      for (const { accountId } of claimed) running.add(accountId);
      return claimed;
    },
    run: deploy,
    atOnceMax,
    everyMs: lookEveryMs,
    onError,
  });
}

function unlessGone(error: unknown): false {
  if (error instanceof Problem && error.code === "not_found") return false;
  throw error;
}
