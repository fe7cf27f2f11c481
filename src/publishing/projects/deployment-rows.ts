import sql from "sql-template-tag";
import { formatDateTime } from "../../platform/http/dates.ts";
import type { Deployment, DeploymentStatus } from "./deployments.ts";

export type StoredDeployment = {
  id: number;
  accountId: number;
  projectId: number;
  status: DeploymentStatus;
  error: string | null;
  files: number;
  bytes: number;
  version: number;
  createdAt: number;
  leftOut: Deployment["leftOut"];
};

export type DeploymentRow = {
  account_id: number;
  id: number;
  project_id: number;
  status: DeploymentStatus;
  error: string | null;
  files: number;
  bytes: number;
  version: number;
  created_at: number;
  left_out: number;
  left_out_paths: string;
};

export const columns = sql`account_id, id, project_id, status, error, files, bytes, version, created_at, left_out, left_out_paths`;

export function deploymentFromRow(row: DeploymentRow): StoredDeployment {
  const { account_id: accountId, id, project_id: projectId, status, error, files, bytes, version, created_at: createdAt } = row;
  const leftOut = { count: row.left_out, paths: JSON.parse(row.left_out_paths) as string[] };
  return { accountId, id, projectId, status, error, files, bytes, version, createdAt, leftOut };
}

/** A deployment as its events record it: as in the API, but without the address, which depends on the project's slug. */
export function recordedDeployment({
  id,
  projectId,
  status,
  error,
  files,
  bytes,
  createdAt,
  leftOut,
}: StoredDeployment): Omit<Deployment, "url"> {
  return { id, projectId, status, error, files, bytes, leftOut, createdAt: formatDateTime(createdAt) };
}
