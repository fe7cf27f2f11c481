import { requireConditions } from "../../platform/http/conditions.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { limitDefault, pageOf, positionOf } from "../../platform/http/paging.ts";
import { addressOf } from "../../platform/http/prefix.ts";
import { created, deleted, listed, mergePatch, resource } from "../../platform/http/resource-answers.ts";
import type { Announcer } from "../../platform/nodes/nodes.ts";
import { NewProject, PageQuery, Project, projectChanged, ProjectPatch, ProjectPath, Projects, requireSlug } from "./projects.ts";
import {
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  lockProject,
  updateProject,
  type StoredProject,
} from "./projects.store.ts";

/** `origin` gives where a host of the platform is reached, with scheme and port. */
export type ProjectParts = { origin: (slug: string) => string; announcer: Announcer };

const path = "/projects";
const onePath = "/projects/{projectId}";
const tag = "Projects";
const stability = "beta";
const params = { projectId: 1 };
const shop: Project = {
  id: 1,
  name: "Rex & Co.",
  slug: "rex",
  url: "http://rex.petstore.localhost:8081",
  deploymentId: 1,
  createdAt: "2026-12-24T10:00:00Z",
};

export function projectRoutes({ origin, announcer }: ProjectParts): Operation[] {
  const projectOf = ({ id, name, slug, deploymentId, createdAt }: StoredProject): Project => ({
    id,
    name,
    slug,
    url: origin(slug),
    deploymentId,
    createdAt: formatDateTime(createdAt),
  });
  const answer = (project: StoredProject, status = 200) => ({ status, body: projectOf(project), version: project.version });

  return [
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
      read: async (db, { accountId, query }) => {
        const [after = 0] = positionOf(query, 1) ?? [];
        const rows = await listProjects(db, accountId, Number(after), (query.limit ?? limitDefault) + 1);
        const page = pageOf(path, query, rows, (row) => [row.id]);
        return { status: 200, body: page.rows.map(projectOf), headers: page.headers };
      },
    }),
    operation({
      operationId: "createProject",
      method: "POST",
      path,
      tag,
      stability,
      summary: "Create a project",
      description: "Takes a slug for a site. Nothing is served there before its first deployment.",
      scope: "publishing:write",
      body: NewProject,
      example: { body: { name: "Luna's Corner", slug: "luna" } },
      answers: {
        201: created("The project as it was made.", Project, {
          ...shop,
          id: 2,
          name: "Luna's Corner",
          slug: "luna",
          url: "http://luna.petstore.localhost:8081",
          deploymentId: null,
        }),
      },
      problems: ["slug_taken"],
      write: async (tx, { accountId, body, now }) => {
        requireSlug(body.slug);
        const project = await insertProject(tx, accountId, body, now);
        return { ...answer(project, 201), headers: { location: addressOf(`${path}/${project.id}`) } };
      },
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
      example: { params },
      answers: { 200: resource("The project.", Project, shop) },
      problems: ["not_found"],
      read: async (db, { accountId, params: { projectId } }) => answer(await findProject(db, accountId, projectId)),
    }),
    operation({
      operationId: "updateProject",
      method: "PATCH",
      path: onePath,
      tag,
      stability,
      summary: "Update a project",
      description: "A JSON merge patch (RFC 7396). A new slug is served at once, and the old one no longer.",
      scope: "publishing:write",
      params: ProjectPath,
      body: ProjectPatch,
      mediaTypes: mergePatch,
      example: { params, body: { name: "Rex & Friends" } },
      answers: { 200: resource("The project as it now stands.", Project, { ...shop, name: "Rex & Friends" }) },
      problems: ["not_found", "precondition_failed", "slug_taken"],
      write: async (tx, { accountId, params: { projectId }, body, conditions }) => {
        if (body.slug !== undefined) requireSlug(body.slug);
        const project = await lockProject(tx, accountId, projectId);
        requireConditions(conditions, project.version);
        const updated = await updateProject(tx, { ...project, ...body });
        await announcer.announce(tx, projectChanged(accountId, projectId));
        return answer(updated);
      },
      finish: () => announcer.settled(),
    }),
    operation({
      operationId: "deleteProject",
      method: "DELETE",
      path: onePath,
      tag,
      stability,
      summary: "Delete a project",
      description: "Deletes a project with its deployments and domains. From the answer on nothing of it is served.",
      scope: "publishing:write",
      params: ProjectPath,
      example: { params },
      answers: { 204: deleted("The project is gone.") },
      problems: ["not_found", "precondition_failed"],
      write: async (tx, { accountId, params: { projectId }, conditions }) => {
        const project = await lockProject(tx, accountId, projectId);
        requireConditions(conditions, project.version);
        await deleteProject(tx, accountId, projectId);
        await announcer.announce(tx, projectChanged(accountId, projectId));
        return { status: 204 };
      },
      finish: () => announcer.settled(),
    }),
  ];
}
