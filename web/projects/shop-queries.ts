import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { dashboardKey, freshMs } from "../calls/lists.ts";
import { previewShop, readShop, type ShopValues } from "./shop.ts";

/** A project's storefront. Until that of a newer deployment is read, the previous one stays. */
export function shopQuery(projectId: number, deploymentId: number | null) {
  return queryOptions({
    queryKey: [dashboardKey, "/projects", "shop", projectId, deploymentId],
    staleTime: freshMs,
    queryFn: ({ signal }) => readShop(projectId, signal),
    placeholderData: keepPreviousData,
  });
}

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
