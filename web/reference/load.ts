import { queryOptions } from "@tanstack/react-query";
import { readDescription } from "./description.ts";
import type { OpenApi } from "./openapi.ts";

export const descriptionUrl = "/openapi.json";
const timeoutMs = 20_000;

/** The description of the service that this page comes from; read once. */
export const descriptionQuery = queryOptions({
  queryKey: ["description"],
  staleTime: Infinity,
  queryFn: async ({ signal }) => {
    const response = await fetch(descriptionUrl, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    if (!response.ok) throw new Error(`${descriptionUrl} answered ${response.status}`);
    return readDescription((await response.json()) as OpenApi);
  },
});
