import type { Transaction } from "../../platform/db/database.ts";
import { actorOfText, fieldsBefore } from "../../platform/events.ts";
import { deploymentFromRow, recordedDeployment, type DeploymentRow, type StoredDeployment } from "./deployment-rows.ts";

export type EndedRow = DeploymentRow & { uploaded_by: string | null; upload_request_id: string | null };

/** Records that a deployment is ready or has failed, with its uploader as the actor. */
export function recordEnd(tx: Transaction, type: "deployment.ready" | "deployment.failed", row: EndedRow): void {
  const data = recordedDeployment(deploymentFromRow(row));
  const previous = fieldsBefore({ ...data, status: "queued", error: null, files: 0, bytes: 0, leftOut: { count: 0, paths: [] } }, data);
  const origin = { actor: actorOfText(row.uploaded_by), requestId: row.upload_request_id };
  tx.record(
    { accountId: row.account_id, type, resource: { type: "deployment", id: row.id }, data, previous, version: row.version },
    origin,
  );
}

/** Records that a project serves an earlier deployment again. */
export function recordPromotion(tx: Transaction, deployment: StoredDeployment): void {
  const { accountId, id, version } = deployment;
  const data = recordedDeployment(deployment);
  tx.record({ accountId, type: "deployment.promoted", resource: { type: "deployment", id }, data, version });
}
