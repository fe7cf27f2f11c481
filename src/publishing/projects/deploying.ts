import { rm } from "node:fs/promises";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { Problem } from "../../platform/problem.ts";
import { unpackArchive } from "./archive.ts";
import { contentPath } from "./content.ts";
import type { Content } from "./shared-content.ts";
import { failureOf } from "./deployments.ts";
import {
  claimDeployments,
  claimFiles,
  failDeployment,
  finishDeployment,
  pruneDeployments,
  takeUnusedFiles,
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

/** Longer than the largest archive takes; a node that dies gives the deployment to another after this time. */
const leaseMs = 10 * 60_000;
const lookEveryMs = 1_000;
const removedAtOnce = 200;

/** Unpacks waiting deployments one at a time, and switches each project to what came out (decisions, part 5). */
export function openDeploying(parts: DeployingParts): Worker {
  const { db, clock, uploads, content, announcer, onError } = parts;

  async function deploy(waiting: WaitingDeployment): Promise<void> {
    const { accountId, id, projectId } = waiting;
    try {
      const unpacked = await unpackArchive(uploads.read(waiting.upload), content, (hashes) => claim(waiting, hashes));
      const apply = await parts.domains({ accountId, projectId }, unpacked.projectFile.domains);
      await db.write(async (tx) => {
        await lockProject(tx, accountId, projectId);
        if (!(await finishDeployment(tx, waiting, unpacked))) return;
        await switchDeployment(tx, accountId, projectId, id);
        await pruneDeployments(tx, accountId, projectId, id);
        await apply(tx, clock());
        await announcer.announce(tx, projectChanged(accountId, projectId));
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "internal") onError(error);
      if (error instanceof Problem && error.code === "unavailable") throw error; // the store is busy: the lease brings it back
      await db.write((tx) => failDeployment(tx, waiting, failureOf(error)));
    }
    await uploads.remove(waiting.upload);
    await announcer.settled();
    await removeUnused();
  }

  /** With the project locked, since its deletion frees what its deployments have claimed. */
  async function claim(waiting: WaitingDeployment, hashes: string[]): Promise<void> {
    await db.write(async (tx) => {
      await lockProject(tx, waiting.accountId, waiting.projectId);
      await claimFiles(tx, waiting, hashes);
    });
  }

  /** Runs between two deployments of this node only, so that no file goes from its folder that one is about to use. */
  async function removeUnused(): Promise<void> {
    const hashes = await db.write(async (tx) => {
      const unused = await takeUnusedFiles(tx, removedAtOnce);
      await content.forget(tx, unused);
      return unused;
    });
    for (const hash of hashes) {
      for (const encoding of [undefined, "br", "gzip"] as const) await rm(contentPath(content.folder, hash, encoding), { force: true });
    }
  }

  return openWorker({
    claim: (count) => {
      const now = clock();
      return db.write((tx) => claimDeployments(tx, count, now, now + leaseMs));
    },
    run: deploy,
    atOnceMax: 1,
    everyMs: lookEveryMs,
    onError,
  });
}
