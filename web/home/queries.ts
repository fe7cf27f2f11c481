import { queryOptions } from "@tanstack/react-query";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { readCall } from "../calls/send.ts";
import { answerOf, readPage, store, type Schemas } from "../calls/store.ts";

/** A domain with a problem. */
type TroubledDomain = { projectId: number; hostname: string; problem: string };

/** The most projects whose domains the home page checks. */
const projectsMax = 5;
const shownMax = 8;

/** How many in the last 7 days, and in the 7 days before. */
export type Figure = { now: number; before: number };

/** The figures of the last days (docs/dashboard-api.md). Values are in minor units. */
export type Figures = {
  placed: Figure;
  fulfilled: Figure;
  reservations: Figure & { lastDay: number };
  views: Figure;
  values: (Figure & { currency: string })[];
  isWhole: boolean;
};

export const figuresQuery = queryOptions({
  queryKey: [dashboardKey, "/figures"],
  staleTime: freshMs,
  queryFn: ({ signal }) => readCall<Figures>("/figures", signal),
});

/** The newest open orders. */
export const openOrdersQuery = queryOptions({
  queryKey: [dashboardKey, "/store/orders", "home"],
  staleTime: freshMs,
  refetchInterval: 10_000,
  queryFn: async ({ signal }) => (await readPage("/store/orders", { complete: false, sort: "-id", limit: shownMax }, { signal })).rows,
});

/** How many reservations and enquiries nobody has answered, and when the first that holds an animal expires. */
export const waitingReservationsQuery = queryOptions({
  queryKey: [dashboardKey, "/reservations", "waiting"],
  staleTime: freshMs,
  refetchInterval: 10_000,
  queryFn: ({ signal }) => readCall<{ count: number; firstLapsesAt: string | null }>("/reservations/waiting", signal),
});

/** The first projects. */
export const projectsQuery = queryOptions({
  queryKey: [dashboardKey, "/projects", "home"],
  staleTime: freshMs,
  queryFn: ({ signal }) => answerOf<Schemas["Project"][]>(store.GET("/projects", { params: { query: { limit: projectsMax } }, signal })),
});

/** The domains of these projects. */
export function domainsQuery(projects: Schemas["Project"][]) {
  return queryOptions({
    queryKey: [dashboardKey, "/projects", "home", "domains", projects.map(({ id }) => id)],
    staleTime: freshMs,
    queryFn: async ({ signal }) => {
      const domains = await Promise.all(
        projects.map(({ id }) =>
          answerOf<Schemas["Domain"][]>(store.GET("/projects/{projectId}/domains", { params: { path: { projectId: id } }, signal })),
        ),
      );
      return domains.flat();
    },
  });
}

/** Whether one of the newest 100 animals has a photo. */
export const photoQuery = queryOptions({
  queryKey: [dashboardKey, "/pets", "any-photo"],
  staleTime: 0,
  queryFn: async ({ signal }): Promise<boolean> => {
    const { rows } = await readPage("/pets", { sort: "-id", limit: 100 }, { signal });
    if (rows.length === 0) return false; // they were deleted meanwhile
    const ids = new URLSearchParams(rows.map(({ id }) => ["id", String(id)]));
    const { pets } = await readCall<{ pets: { photo: object | null }[] }>(`/pets/summaries?${ids}`, signal);
    return pets.some(({ photo }) => photo !== null);
  },
});

/** The domains and certificates of projects that need attention. */
export function troublesQuery(projects: Schemas["Project"][]) {
  return {
    ...domainsQuery(projects),
    select: (domains: Schemas["Domain"][]): TroubledDomain[] =>
      domains.flatMap(({ projectId, hostname, problems, certificate }) => {
        const problem = problems[0]?.message ?? certificate.problem ?? undefined;
        return problem === undefined ? [] : [{ projectId, hostname, problem }];
      }),
  };
}
