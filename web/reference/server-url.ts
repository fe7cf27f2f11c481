import { descriptionUrl } from "./load.ts";

/** The API's absolute URL; a relative server URL is resolved against the description (OpenAPI 3.0.3, Server Object). */
export function absoluteUrl(serverUrl: string): string {
  return new URL(serverUrl, new URL(descriptionUrl, location.href)).href.replace(/\/$/, "");
}
