import type { Static } from "typebox";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { addressOf } from "../../platform/http/api-surfaces.ts";
import { requireConditions, versionOfShown } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import {
  type Answer,
  type Call,
  created,
  deleted,
  listed,
  mergePatch,
  operation,
  type Operation,
  resource,
} from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import {
  deleteEarlierDeployments,
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  lockProject,
  type StoredProject,
  updateProject,
} from "./projects.store.ts";
import {
  PageQuery,
  Project,
  projectChanged,
  ProjectInput,
  type ProjectNames,
  ProjectPath,
  Projects,
  requireSlug,
  WrittenProjectPatch,
} from "./projects.ts";

export type ProjectServices = {
  /** Returns the names of one account's projects, as answers show them, in the order of `projects`. */
  namesOf: (db: Queryable, projects: StoredProject[], now: number) => Promise<ProjectNames[]>;
  announcer: Announcer;
};

const path = "/projects";
const onePath = "/projects/{projectId}";
const tag = "Projects";
const stability = "beta";
const oneParams = { projectId: 1 };
const shop: Project = {
  id: 1,
  name: "Rex & Co.",
  slug: "rex",
  url: "http://rex.petstore.localhost:8081",
  deploymentId: 1,
  domains: { primary: null, redirects: [] },
  redirectToPrimary: false,
  hsts: true,
  createdAt: "2026-12-24T10:00:00Z",
};

export const projectRoutes: Operation<ProjectServices>[] = [
  operation({
    operationId: "listProjects",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List projects",
    description: "The account's projects, ordered by `id`.",
    scope: "publishing:read",
    query: PageQuery,
    answers: { 200: listed("The projects.", Projects, [shop]) },
    read: readProjects,
  }),
  operation({
    operationId: "createProject",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Create a project",
    description: "Creates a project and reserves its slug. Nothing is served there before the first deployment.",
    details: "An account can have at most 100 projects.",
    scope: "publishing:write",
    body: ProjectInput,
    example: { body: { name: "Luna's Corner", slug: "luna" } },
    answers: {
      201: created("The new project.", Project, {
        ...shop,
        id: 2,
        name: "Luna's Corner",
        slug: "luna",
        url: "http://luna.petstore.localhost:8081",
        deploymentId: null,
      }),
    },
    problems: ["slug_taken"],
    write: createProject,
  }),
  operation({
    operationId: "getProject",
    method: "GET",
    path: onePath,
    tag,
    stability,
    summary: "Get a project",
    description: "One project by its identifier.",
    scope: "publishing:read",
    params: ProjectPath,
    example: { params: oneParams },
    answers: { 200: resource("The project.", Project, shop) },
    problems: ["not_found"],
    read: async (db, { accountId, params: { projectId }, services, now }) =>
      answer(db, services, await findProject(db, accountId, projectId), now),
  }),
  operation({
    operationId: "updateProject",
    method: "PATCH",
    path: onePath,
    tag,
    stability,
    summary: "Update a project",
    description: "Changes the given fields of a project. A new `slug` is served at once, and the old one is not.",
    details: "No other account can take the old one for 30 days.",
    scope: "publishing:write",
    params: ProjectPath,
    body: WrittenProjectPatch,
    mediaTypes: mergePatch,
    example: { params: oneParams, body: { name: "Rex & Friends" } },
    answers: { 200: resource("The updated project.", Project, { ...shop, name: "Rex & Friends" }) },
    problems: ["not_found", "precondition_failed", "slug_taken"],
    write: changeProject,
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
  operation({
    operationId: "deleteProject",
    method: "DELETE",
    path: onePath,
    tag,
    stability,
    summary: "Delete a project",
    description: "Deletes a project with its deployments and domains. Returns once nothing of it is served.",
    details: "No other account can take its slug for 30 days.",
    scope: "publishing:write",
    params: ProjectPath,
    example: { params: oneParams },
    answers: { 204: deleted("The project was deleted.") },
    problems: ["not_found", "precondition_failed"],
    before: removeEarlierDeployments,
    write: removeProject,
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
];

type OneProject = { params: Static<typeof ProjectPath> };

async function readProjects(db: Database, call: Call<ProjectServices, { query: Static<typeof PageQuery> }>): Promise<Answer> {
  const { accountId, query, services, now } = call;
  const [after = 0] = positionOf(query, 1) ?? [];
  const rows = await listProjects(db, accountId, Number(after), (query.limit ?? limitDefault) + 1);
  const page = pageOf(path, query, rows, (row) => [row.id]);
  const projects = await projectResponses(db, services, page.rows, now);
  return { status: 200, body: projects.map(({ body }) => body), headers: page.headers };
}

async function createProject(tx: Transaction, call: Call<ProjectServices, { body: ProjectInput }>): Promise<Answer> {
  const { accountId, body, services, now } = call;
  requireSlug(body.slug);
  const project = await insertProject(tx, accountId, body, now);
  return { ...(await answer(tx, services, project, now, 201)), headers: { location: addressOf(`${path}/${project.id}`) } };
}

async function changeProject(
  tx: Transaction,
  call: Call<ProjectServices, OneProject & { body: Static<typeof WrittenProjectPatch> }>,
): Promise<Answer> {
  const { accountId, params, body, conditions, services, now } = call;
  const project = await lockProject(tx, accountId, params.projectId);
  // A slug that is older than a rule stays valid.
  if (body.slug !== undefined && body.slug !== project.slug) requireSlug(body.slug);
  requireConditions(conditions, (await answer(tx, services, project, now)).version);
  const updated = await updateProject(tx, project, body, now);
  const answered = await answer(tx, services, updated, now);
  if (updated !== project) await services.announcer.publish(tx, projectChanged(accountId, project.id));
  return answered;
}

/** What makes a project large is deleted before the project, in short transactions. */
function removeEarlierDeployments(db: Database, call: Call<ProjectServices, OneProject>): Promise<void> {
  const { accountId, params, conditions, services, now } = call;
  const check = async (tx: Transaction, project: StoredProject): Promise<void> =>
    requireConditions(conditions, (await answer(tx, services, project, now)).version);
  return deleteEarlierDeployments(db, { accountId, projectId: params.projectId }, check);
}

async function removeProject(tx: Transaction, call: Call<ProjectServices, OneProject>): Promise<Answer> {
  const { accountId, params, conditions, services, now } = call;
  const project = await lockProject(tx, accountId, params.projectId);
  requireConditions(conditions, (await answer(tx, services, project, now)).version);
  await deleteProject(tx, accountId, project.id, now);
  await services.announcer.publish(tx, projectChanged(accountId, project.id));
  return { status: 204 };
}

async function answer(db: Queryable, services: ProjectServices, project: StoredProject, now: number, status = 200) {
  const [one] = await projectResponses(db, services, [project], now);
  return { status, ...one! };
}

/** The body and the version of each project. A change of its names changes its version too. */
async function projectResponses(db: Queryable, { namesOf }: ProjectServices, projects: StoredProject[], now: number) {
  const names = await namesOf(db, projects, now);
  return projects.map((project, index) => {
    const body = projectOf(project, names[index]!);
    return { body, version: versionOfShown(project.version, body) };
  });
}

function projectOf({ id, name, slug, deploymentId, redirectToPrimary, hsts, createdAt }: StoredProject, names: ProjectNames): Project {
  return { id, name, slug, ...names, deploymentId, redirectToPrimary, hsts, createdAt: formatDateTime(createdAt) };
}
