import { infiniteQueryOptions, type InfiniteData, type QueryClient } from "@tanstack/react-query";
import { nextCursor } from "../../client/pages.ts";
import { dashboardKey } from "../calls/lists.ts";
import { supersede } from "../calls/rows.ts";
import { callsBelow, send } from "../calls/send.ts";
import { answerOf, store, type Page, type Schemas } from "../calls/store.ts";
import { hostnameIn, isUnsettled, pollMs, type Domain } from "./state.ts";

export type DomainPatch = Schemas["DomainPatch"];

const pageSize = 100;
const keyOf = (projectId: number) => [dashboardKey, "/projects", "domains", projectId] as const;

/**
 * The domains of a project, oldest first. Polls while one of them may still change; `since` is the time of the last user action, in ms.
 */
export function domainsQuery(projectId: number, since: number) {
  return infiniteQueryOptions({
    queryKey: keyOf(projectId),
    initialPageParam: undefined as string | undefined,
    staleTime: 0,
    refetchOnWindowFocus: true,
    queryFn: async ({ pageParam, signal }): Promise<Page<Domain>> => {
      const params = { path: { projectId }, query: { limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) } };
      const { data, response } = await store.GET("/projects/{projectId}/domains", { params, signal });
      return { rows: data ?? [], next: nextCursor(response.headers, location.origin) };
    },
    refetchInterval: ({ state: { data } }) => {
      const pages = data?.pages ?? [];
      return pages.some(({ rows }) => rows.some(isUnsettled)) && pollMs(Date.now() - since, pages.length);
    },
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
  });
}

/** Shows a domain from a response at once: in its place, or at the end if it is new. The next read restores the order. */
export function showDomain(client: QueryClient, domain: Domain): void {
  client.setQueryData<InfiniteData<Page<Domain>, string | undefined>>(keyOf(domain.projectId), (cached) => {
    if (!cached) return undefined;
    const isKnown = cached.pages.some(({ rows }) => rows.some(({ hostname }) => hostname === domain.hostname));
    const pages = cached.pages.map((page, index) => {
      const rows = page.rows.map((row) => (row.hostname === domain.hostname ? domain : row));
      return { ...page, rows: isKnown || index < cached.pages.length - 1 ? rows : [...rows, domain] };
    });
    return { ...cached, pages };
  });
  supersede(client, keyOf(domain.projectId));
}

function addDomain(projectId: number, hostname: string): Promise<Domain> {
  return answerOf<Domain>(
    store.POST("/projects/{projectId}/domains", { params: { path: { projectId } }, body: { hostname: hostnameIn(hostname) } }),
  );
}

/** An added domain, with the other form of its name: added as `partner`, or `failed` with the error. */
export type AddedDomains = { domain: Domain; partner?: Domain; failed?: { hostname: string; error: unknown } };

/**
 * Adds a domain and, if given, another name that redirects to it. If only the other name fails, the domain stays added.
 *
 * @throws Refusal if the domain is refused
 */
export async function addDomains(projectId: number, hostname: string, other: string | undefined): Promise<AddedDomains> {
  const domain = await addDomain(projectId, hostname);
  if (other === undefined) return { domain };
  try {
    const added = await addDomain(projectId, other);
    return { domain, partner: await updateDomain(added, { redirect: { to: domain.hostname, status: 301 } }) };
  } catch (error) {
    return { domain, failed: { hostname: other, error } };
  }
}

export function verifyDomain({ projectId, hostname }: Domain): Promise<Domain> {
  return answerOf<Domain>(store.POST("/projects/{projectId}/domains/{hostname}/verify", { params: { path: { projectId, hostname } } }));
}

export function updateDomain({ projectId, hostname }: Domain, body: DomainPatch): Promise<Domain> {
  return answerOf<Domain>(store.PATCH("/projects/{projectId}/domains/{hostname}", { params: { path: { projectId, hostname } }, body }));
}

function callLink({ projectId, hostname }: Domain, method: string): Promise<Response> {
  const path = `${callsBelow}/projects/${projectId}/domains/${encodeURIComponent(hostname)}/link`;
  return send(new Request(new URL(path, location.href), { method }));
}

/** Makes a link that shows a domain's records without sign-in, and ends the previous link. The service returns the URL only here. */
export async function makeLink(domain: Domain): Promise<{ url: string; expiresAt: string }> {
  return (await callLink(domain, "POST")).json() as Promise<{ url: string; expiresAt: string }>;
}

export function endLink(domain: Domain): Promise<unknown> {
  return callLink(domain, "DELETE");
}

export type RemovedDomain = Schemas["RemovedDomain"];

/** Removes a domain. Returns a warning and freed redirects, if any. */
export function removeDomain({ projectId, hostname }: Domain): Promise<RemovedDomain | undefined> {
  const params = { path: { projectId, hostname } };
  return answerOf<RemovedDomain | undefined>(store.DELETE("/projects/{projectId}/domains/{hostname}", { params }));
}
