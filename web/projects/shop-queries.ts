import { queryOptions } from "@tanstack/react-query";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { previewShop, type ShopValues } from "./shop.ts";

/** The first page of a project's storefront with values that are not saved. A new deployment, as of a logo, makes another. */
export function previewQuery(projectId: number, deploymentId: number | null, values: ShopValues) {
  return queryOptions({
    queryKey: [dashboardKey, "/projects", "preview", projectId, deploymentId, values],
    staleTime: freshMs,
    gcTime: freshMs,
    retry: false,
    queryFn: ({ signal }) => previewShop(projectId, values, signal),
  });
}
