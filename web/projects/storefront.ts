import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { readCall } from "../calls/send.ts";

/**
 * A project's storefront. `settings`: its name and settings as JSON, or null if the project has none. `startPage`: whether an `index.html`
 * takes its place. `logo`: in base64, or null if none was uploaded here.
 */
type Storefront = { settings: string | null; startPage: boolean; logo: string | null };

/** A project's storefront. Until that of a newer deployment is read, the previous one stays. */
export function shopQuery(projectId: number, deploymentId: number | null) {
  return queryOptions({
    queryKey: [dashboardKey, "/projects", "shop", projectId, deploymentId],
    staleTime: freshMs,
    queryFn: ({ signal }) => readCall<Storefront>(`/projects/${projectId}/storefront`, signal),
    placeholderData: keepPreviousData,
  });
}

/** The file that the settings of a storefront name as its logo. */
export function logoName(settings: string): string | undefined {
  return (JSON.parse(settings) as { settings: { logo?: string } }).settings.logo;
}
