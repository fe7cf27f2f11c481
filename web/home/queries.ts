import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { answerOf, readPage, store, type Schemas } from "../calls/store.ts";

/** A domain with a problem. */
type TroubledDomain = { projectId: number; hostname: string; problem: string };

/** The projects whose domains the home page looks at. */
const projectsMax = 5;
const shownMax = 8;

/** The newest open orders. */
export const openOrdersQuery = queryOptions({
  queryKey: [dashboardKey, "/store/orders", "home"],
  refetchInterval: 10_000,
  queryFn: async ({ signal }) => (await readPage("/store/orders", { complete: false, sort: "-id", limit: shownMax }, { signal })).rows,
});

export const accountQuery = queryOptions({
  queryKey: [dashboardKey, "/account", "home"],
  queryFn: ({ signal }) => answerOf<Schemas["Account"]>(store.GET("/account", { signal })),
});

/** The first projects, with the domains and certificates that need attention. */
export const sitesQuery = queryOptions({
  queryKey: [dashboardKey, "/projects", "home"],
  queryFn: async ({ signal }): Promise<{ projects: number; troubled: TroubledDomain[] }> => {
    const projects = await answerOf<Schemas["Project"][]>(store.GET("/projects", { params: { query: { limit: projectsMax } }, signal }));
    const domains = await Promise.all(
      projects.map(({ id }) =>
        answerOf<Schemas["Domain"][]>(store.GET("/projects/{projectId}/domains", { params: { path: { projectId: id } }, signal })),
      ),
    );
    const troubled = domains.flat().flatMap(({ projectId, hostname, problems, certificate }) => {
      const problem = problems[0]?.message ?? certificate.problem ?? undefined;
      return problem === undefined ? [] : [{ projectId, hostname, problem }];
    });
    return { projects: projects.length, troubled };
  },
});
