import { queryOptions } from "@tanstack/react-query";
import { readDescription } from "./description.ts";
import type { OpenApi } from "./openapi.ts";

/** The URL of the service. A page published on another host names it; else it is empty, for the page's own host. */
const serviceUrl = document.querySelector<HTMLMetaElement>('meta[name="petstore-url"]')?.content ?? "";

export const descriptionUrl = `${serviceUrl}/openapi.json`;
export const yamlUrl = `${serviceUrl}/openapi.yaml`;
/** The page of the dashboard where keys are made. */
export const keysUrl = `${serviceUrl}/dashboard/keys`;
const timeoutMs = 20_000;

/** The description of the service; read once. */
export const descriptionQuery = queryOptions({
  queryKey: ["description"],
  staleTime: Infinity,
  queryFn: async ({ signal }) => {
    const response = await fetch(descriptionUrl, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    if (!response.ok) throw new Error(`${descriptionUrl} answered ${response.status}`);
    return readDescription((await response.json()) as OpenApi);
  },
});

/** The API's absolute URL; a relative server URL is resolved against the description (OpenAPI 3.0.3, Server Object). */
export function absoluteUrl(serverUrl: string): string {
  return new URL(serverUrl, new URL(descriptionUrl, location.href)).href.replace(/\/$/, "");
}
