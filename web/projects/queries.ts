import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { Refusal } from "../calls/refusal.ts";
import { reread, supersede } from "../calls/rows.ts";
import { serverNow } from "../calls/server-clock.ts";
import { answerOf, ifUnchanged, store, taggedAnswerOf, type Schemas, type Tagged } from "../calls/store.ts";

export type Project = Schemas["Project"];
export type Deployment = Schemas["Deployment"];
/** A project with its version and its deployments, newest first. */
export type Site = { project: Tagged<Project>; deployments: Deployment[] };

const soonMs = 1_000;
const laterMs = 5_000;
/** A queued deployment is polled often until it is this old, because unpacking takes only seconds. */
const soonForMs = 60_000;

/**
 * A project and its deployments, read one right after the other, so that the list normally has the live deployment. Polls while the page
 * is visible, because somebody may also deploy from a terminal or another browser.
 */
export function siteQuery(projectId: number) {
  return queryOptions({
    queryKey: [dashboardKey, "/projects", "site", projectId],
    staleTime: soonMs,
    refetchOnWindowFocus: true,
    queryFn: async ({ signal }): Promise<Site> => {
      const path = { projectId };
      const deployments = await answerOf<Deployment[]>(
        store.GET("/projects/{projectId}/deployments", { params: { path, query: { limit: 100 } }, signal }),
      );
      const project = await taggedAnswerOf<Project>(store.GET("/projects/{projectId}", { params: { path }, signal }));
      return { project, deployments: deployments.toReversed() };
    },
    refetchInterval: ({ state: { data, error } }) => !isGone(error) && pollMs(data?.deployments ?? [], serverNow()),
  });
}

/** Whether the error says that the project does not exist. */
export function isGone(error: Error | null): boolean {
  return error instanceof Refusal && error.status === 404;
}

/** The polling interval of deployments. Times in ms. */
function pollMs(deployments: readonly Deployment[], now: number): number {
  const isSoon = ({ status, createdAt }: Deployment) => status === "queued" && now - Date.parse(createdAt) < soonForMs;
  return deployments.some(isSoon) ? soonMs : laterMs;
}

/** Rereads a project after a change, and what other pages show of it once they are opened. */
export function rereadSite(client: QueryClient, projectId: number): Promise<void> {
  void reread(client, { queryKey: [dashboardKey, "/projects"], refetchType: "none" });
  return reread(client, { queryKey: siteQuery(projectId).queryKey });
}

/** Rereads the projects and all that is shown of them, after a change that adds no row and leaves every page where it is. */
export function rereadProjects(client: QueryClient): Promise<void> {
  return reread(client, { queryKey: [dashboardKey, "/projects"] });
}

/** Shows a changed project at once. */
export function showProject(client: QueryClient, project: Tagged<Project>): void {
  const { queryKey } = siteQuery(project.value.id);
  client.setQueryData(queryKey, (site) => site && { ...site, project });
  supersede(client, queryKey);
}

export type ProjectValues = { name: string; slug: string };

/** Creates a project. The refusal of a taken slug names its field. @throws Refusal */
export function createProject(body: ProjectValues): Promise<Project> {
  return atSlug(answerOf<Project>(store.POST("/projects", { body })));
}

/** @throws Refusal */
export function updateProject(project: Tagged<Project>, body: ProjectValues): Promise<Tagged<Project>> {
  const params = { path: { projectId: project.value.id }, header: ifUnchanged(project) };
  return atSlug(taggedAnswerOf<Project>(store.PATCH("/projects/{projectId}", { params, body })));
}

export type ProjectSwitches = Partial<Pick<Project, "redirectToPrimary" | "hsts">>;

/** Turns a project's setting on or off, even if somebody else has changed the project. @throws Refusal */
export function switchProject(projectId: number, body: ProjectSwitches): Promise<Tagged<Project>> {
  return taggedAnswerOf<Project>(store.PATCH("/projects/{projectId}", { params: { path: { projectId } }, body }));
}

async function atSlug<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "slug_taken") throw error;
    const { code, message, status, requestId } = error;
    throw new Refusal(code, message, { status, requestId, details: [{ path: "body.slug", message }], cause: error });
  }
}

export function deleteProject(projectId: number): Promise<unknown> {
  return answerOf(store.DELETE("/projects/{projectId}", { params: { path: { projectId } } }));
}

export function promote({ projectId, id }: Pick<Deployment, "projectId" | "id">): Promise<Deployment> {
  const params = { path: { projectId, deploymentId: id } };
  return answerOf<Deployment>(store.POST("/projects/{projectId}/deployments/{deploymentId}/promote", { params }));
}
