import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import type { Change } from "../../platform/jobs/changes.ts";
import { openWorker, type Worker } from "../../platform/jobs/worker.ts";
import { Problem } from "../../platform/problem.ts";
import { unpackArchive, type UnpackedArchive } from "./archive.ts";
import { contentPath } from "./content.ts";
import { failureOf } from "./deployments.ts";
import {
  claimDeployments,
  failDeployment,
  finishDeployment,
  forgetUnusedFiles,
  listUnusedFiles,
  maySweepFiles,
  noteUnusedFiles,
  pruneDeployments,
  type WaitingDeployment,
} from "./deployments.store.ts";
import type { ProjectFile } from "./project-file.ts";
import { lockProject, switchDeployment } from "./projects.store.ts";
import type { Uploads } from "./uploads.ts";

export type DeployingParts = {
  db: Database;
  clock: Clock;
  uploads: Uploads;
  contentFolder: string;
  announce: (change: Change) => Promise<void>;
  /**
   * Checks the `domains` of a `petstore.json` and gives what applies them, to be run in the transaction of the switch. Both raise the
   * Problem that refuses them.
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
  const { db, clock, uploads, contentFolder, announce, onError } = parts;

  async function deploy(waiting: WaitingDeployment): Promise<void> {
    const { accountId, projectId } = waiting;
    let unpacked: UnpackedArchive | undefined;
    try {
      unpacked = await unpackArchive(createReadStream(uploads.pathOf(waiting.upload)), contentFolder);
      await apply(waiting, unpacked);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "internal") onError(error);
      if (error instanceof Problem && error.code === "unavailable") throw error; // the store is busy: the lease brings it back
      await db.write(async (tx) => {
        await noteUnusedFiles(tx, hashesOf(unpacked));
        if (!(await failDeployment(tx, waiting, failureOf(error)))) return;
        const { deploymentId } = await lockProject(tx, accountId, projectId);
        await pruneDeployments(tx, accountId, projectId, deploymentId);
      });
    }
    await uploads.remove(waiting.upload);
    await announce({ accountId, projectId });
  }

  async function apply(waiting: WaitingDeployment, unpacked: UnpackedArchive): Promise<void> {
    const { accountId, id, projectId } = waiting;
    const applyDomains = await parts.domains({ accountId, projectId }, unpacked.projectFile.domains);
    await db.write(async (tx) => {
      if (!(await finishDeployment(tx, waiting, unpacked))) return noteUnusedFiles(tx, hashesOf(unpacked));
      await lockProject(tx, accountId, projectId);
      await switchDeployment(tx, accountId, projectId, id);
      await applyDomains(tx, clock());
      await pruneDeployments(tx, accountId, projectId, id);
    });
  }

  /** What has to go is forgotten once it is gone, so that a process that dies between leaves nothing behind. */
  async function removeUnused(): Promise<void> {
    for (let taken = removedAtOnce; taken === removedAtOnce && (await maySweepFiles(db));) {
      const hashes = await db.write((tx) => listUnusedFiles(tx, removedAtOnce));
      for (const hash of hashes) {
        for (const encoding of [undefined, "br", "gzip"] as const) await rm(contentPath(contentFolder, hash, encoding), { force: true });
      }
      await db.write((tx) => forgetUnusedFiles(tx, hashes));
      taken = hashes.length;
    }
  }

  return openWorker({
    // Looked for only while nothing is unpacked: no file may go that a deployment is about to use.
    claim: async (count) => {
      await removeUnused().catch(onError);
      const now = clock();
      return db.write((tx) => claimDeployments(tx, count, now, now + leaseMs));
    },
    run: deploy,
    atOnceMax: 1,
    everyMs: lookEveryMs,
    onError,
  });
}

function hashesOf(unpacked: UnpackedArchive | undefined): string[] {
  return [...new Set(Array.from(unpacked?.manifest.values() ?? [], ({ hash }) => hash))];
}
