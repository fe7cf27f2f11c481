import type { Static } from "typebox";
import type { Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import { type Answer, type Call, created, listed, operation, type Operation, resource } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";
import { archiveLimits } from "./archive.ts";
import {
  findDeployment,
  insertDeployment,
  isUploadTaken,
  listDeployments,
  recordedDeployment,
  recordPromotion,
  requireRoom,
  type StoredDeployment,
} from "./deployments.store.ts";
import { Deployment, DeploymentPath, Deployments } from "./deployments.ts";
import { findProject, lockProject, switchDeployment } from "./projects.store.ts";
import { PageQuery, projectChanged, ProjectPath } from "./projects.ts";
import type { Uploads } from "./uploads.ts";

/** `wake` starts the worker that unpacks deployments. `deploymentsKept` is how many of each project are kept. */
export type DeploymentServices = {
  uploads: Uploads;
  wake: () => void;
  announcer: Announcer;
  deploymentsKept: number;
  /** The address of one deployment of a project; undefined if the slug is too long for it. */
  urlOfDeployment: (id: number, slug: string) => string | undefined;
};

const path = "/projects/{projectId}/deployments";
const onePath = "/projects/{projectId}/deployments/{deploymentId}";
const tag = "Projects";
const stability = "beta";
const projectParams = { projectId: 1 };
const oneParams = { projectId: 1, deploymentId: 1 };
const ready: Deployment = {
  id: 1,
  projectId: 1,
  status: "ready",
  error: null,
  files: 1,
  bytes: 14,
  leftOut: { count: 0, paths: [] },
  url: "http://1--rex.petstore.localhost:8081",
  createdAt: "2026-12-24T10:00:00Z",
};

export const deploymentRoutes: Operation<DeploymentServices>[] = [
  operation({
    operationId: "listDeployments",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List deployments",
    description: "A project's deployments, ordered by `id`.",
    details: "The list has those that the service keeps (10 by default) and those that are queued.",
    scope: "publishing:read",
    params: ProjectPath,
    query: PageQuery,
    example: { params: projectParams },
    answers: { 200: listed("The deployments.", Deployments, [ready]) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { projectId }, query, services }) => {
      const [after = 0] = positionOf(query, 1) ?? [];
      const { slug } = await findProject(db, accountId, projectId);
      const rows = await listDeployments(db, accountId, projectId, Number(after), (query.limit ?? limitDefault) + 1);
      const page = pageOf(path.replace("{projectId}", String(projectId)), query, rows, (row) => [row.id]);
      return { status: 200, body: page.rows.map((row) => shownDeployment(row, slug, services)), headers: page.headers };
    },
  }),
  operation({
    operationId: "createDeployment",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Deploy",
    description:
      "Uploads a site: a gzipped tar or a zip file of a folder that contains a `petstore.json`; the first bytes say which of them it is. A zip file may have the folder itself at its top, as Windows and macOS write it. The service unpacks it after the answer: poll `Location` until the deployment is `ready` (and served) or `failed` (with an error). At most 200 MiB unpacked, 2,000 files, 25 MiB a file. It fails if the account has too little room for its files, and is refused at once if the account has no room at all. The `domains` of its `petstore.json` are applied with it: the service attaches `primary` and each `from` that the project does not have yet, a list of `redirects` replaces all redirects of the project, and a `to` must be attached or be the `primary`. If one of them is refused, the deployment fails and changes nothing.",
    scope: "publishing:write",
    params: ProjectPath,
    upload: {
      mediaTypes: ["application/gzip", "application/zip"],
      bytesMax: archiveLimits.packedBytesMax,
      sample: "site.tar.gz",
      description: "A gzipped tar or a zip file, at most 50 MiB: `tar -czf site.tar.gz -C site .`",
    },
    example: { params: projectParams },
    answers: {
      202: created("The deployment, which the service now unpacks.", Deployment, {
        ...ready,
        id: 2,
        status: "queued",
        files: 0,
        bytes: 0,
        url: null,
      }),
    },
    problems: ["not_found", "storage_limit_reached"],
    before: (_db, { accountId, services }, body) => services.uploads.receive(accountId, body),
    write: async (tx, { accountId, params: { projectId }, services, now, origin }, { name }) => {
      const project = await lockProject(tx, accountId, projectId);
      await requireRoom(tx, accountId, projectId, project.deploymentId, services.deploymentsKept);
      const deployment = await insertDeployment(tx, accountId, projectId, name, now, origin);
      return {
        ...answer(deployment, project.slug, services, 202),
        headers: { location: addressOf(`/projects/${projectId}/deployments/${deployment.id}`) },
      };
    },
    finish: async (db, { services: { uploads, wake } }, { name }) => {
      if (await isUploadTaken(db, name)) wake();
      else await uploads.remove(name); // the deployment was refused, or this is a replay
    },
  }),
  operation({
    operationId: "getDeployment",
    method: "GET",
    path: onePath,
    tag,
    stability,
    summary: "Get a deployment",
    description: "One deployment of a project.",
    scope: "publishing:read",
    params: DeploymentPath,
    example: { params: oneParams },
    answers: { 200: resource("The deployment.", Deployment, ready) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { projectId, deploymentId }, services }) => {
      const { slug } = await findProject(db, accountId, projectId);
      return answer(await findDeployment(db, accountId, projectId, deploymentId), slug, services);
    },
  }),
  operation({
    operationId: "promoteDeployment",
    method: "POST",
    path: "/projects/{projectId}/deployments/{deploymentId}/promote",
    tag,
    stability,
    summary: "Promote a deployment",
    description: "Starts to serve a ready deployment, for example an earlier one. Does not apply its `domains` again.",
    scope: "publishing:write",
    params: DeploymentPath,
    example: { params: oneParams },
    answers: { 200: resource("The deployment, which is now served.", Deployment, ready) },
    problems: ["not_found", "precondition_failed", "deployment_not_ready"],
    write: promoteDeployment,
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
];

type OneDeployment = { params: Static<typeof DeploymentPath> };

async function promoteDeployment(tx: Transaction, call: Call<DeploymentServices, OneDeployment>): Promise<Answer> {
  const { accountId, params, conditions, services } = call;
  const { projectId, deploymentId } = params;
  const { slug, deploymentId: before } = await lockProject(tx, accountId, projectId);
  const deployment = await findDeployment(tx, accountId, projectId, deploymentId);
  const answered = answer(deployment, slug, services);
  requireConditions(conditions, answered.version);
  if (deployment.status !== "ready") {
    throw new Problem("deployment_not_ready", `Deployment ${deploymentId} is ${deployment.status}: only a ready one can be served.`);
  }
  await switchDeployment(tx, accountId, projectId, deploymentId);
  if (before !== deploymentId) recordPromotion(tx, deployment);
  await services.announcer.publish(tx, projectChanged(accountId, projectId));
  return answered;
}

/** A change of the address also changes the version. */
function answer(deployment: StoredDeployment, slug: string, services: DeploymentServices, status = 200) {
  const body = shownDeployment(deployment, slug, services);
  return { status, body, version: versionOfShown(deployment.version, body) };
}

/** A deployment as the answers show it. */
export function shownDeployment(deployment: StoredDeployment, slug: string, { urlOfDeployment }: DeploymentServices): Deployment {
  const url = deployment.status === "ready" ? (urlOfDeployment(deployment.id, slug) ?? null) : null;
  return { ...recordedDeployment(deployment), url };
}
