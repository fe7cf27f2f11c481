import sql from "sql-template-tag";
import type { Queryable, Transaction } from "../../platform/db/database.ts";
import { actorText, type Origin } from "../../platform/events.ts";
import { Problem } from "../../platform/problem.ts";
import { type Manifest, manifestFromText, manifestToText } from "./content.ts";
import {
  claimFiles,
  columns,
  deploymentFromRow,
  type EndedRow,
  pruneDeployments,
  recordEnd,
  type StoredDeployment,
} from "./deployments.store.ts";
import { findProject, lockProject, switchDeployment } from "./projects.store.ts";
import type { StoredStorefront } from "./storefront-settings.ts";

/** The files and the storefront that a project serves now. */
export type LiveDeployment = { manifest: Manifest; stored: StoredStorefront | undefined };

const nothing: LiveDeployment = { manifest: new Map(), stored: undefined };

/** Returns the files and the storefront of a project's live deployment; none without one. @throws Problem `not_found` */
export async function findLive(db: Queryable, accountId: number, projectId: number): Promise<LiveDeployment> {
  const { deploymentId } = await findProject(db, accountId, projectId);
  return deploymentId === null ? nothing : readLive(db, accountId, deploymentId);
}

async function readLive(db: Queryable, accountId: number, id: number): Promise<LiveDeployment> {
  const rows = await db.query<{ manifest: string | null; storefront: string | null }>(
    sql`SELECT manifest, storefront FROM deployments WHERE account_id = ${accountId} AND id = ${id}`,
  );
  const { manifest = null, storefront = null } = rows[0] ?? {};
  return {
    manifest: manifestFromText(manifest ?? "[]"),
    stored: storefront === null ? undefined : (JSON.parse(storefront) as StoredStorefront),
  };
}

type Target = { accountId: number; projectId: number; kept: number; now: number; origin: Origin };

/**
 * Applies `change` to the live deployment, and serves the result as a new deployment. It is ready at once, because the content of its files is
 * stored already: the files are claimed, not copied.
 *
 * @throws Problem `not_found`, `storage_limit_reached`; `deployment_not_ready` while an upload waits, because it would undo the change
 */
export async function deployChanged(
  tx: Transaction,
  { accountId, projectId, kept, now, origin }: Target,
  change: (live: LiveDeployment) => { manifest: Manifest; stored: StoredStorefront },
): Promise<{ deployment: StoredDeployment; slug: string }> {
  const { deploymentId, slug } = await lockProject(tx, accountId, projectId);
  await refuseWaiting(tx, accountId, projectId);
  const { manifest, stored } = change(deploymentId === null ? nothing : await readLive(tx, accountId, deploymentId));
  await pruneDeployments(tx, accountId, projectId, deploymentId, kept - 1);
  const files = [...manifest.values()];
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const [row] = await tx.query<EndedRow>(sql`
    INSERT INTO deployments
      (account_id, id, project_id, status, files, bytes, manifest, storefront, version, created_at, uploaded_by, upload_request_id)
    VALUES (${accountId}, nextval('deployment_ids'), ${projectId}, 'ready', ${files.length}, ${bytes}, ${manifestToText(manifest)},
      ${JSON.stringify(stored)}, 1, ${now}, ${actorText(origin.actor)}, ${origin.requestId})
    RETURNING ${columns}, uploaded_by, upload_request_id`);
  const deployment = deploymentFromRow(row!);
  const distinct = new Map(files.map(({ hash, size }) => [hash, { hash, size }]));
  await claimFiles(tx, deployment, [...distinct.values()]);
  await switchDeployment(tx, accountId, projectId, deployment.id);
  recordEnd(tx, "deployment.ready", row!);
  return { deployment, slug };
}

async function refuseWaiting(tx: Transaction, accountId: number, projectId: number): Promise<void> {
  const rows = await tx.query<{ id: number }>(
    sql`SELECT id FROM deployments WHERE account_id = ${accountId} AND project_id = ${projectId} AND status = 'queued' LIMIT 1`,
  );
  const [waiting] = rows;
  if (waiting) throw new Problem("deployment_not_ready", `Deployment ${waiting.id} is still being unpacked. Try again when it is ready.`);
}
