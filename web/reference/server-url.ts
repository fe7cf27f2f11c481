import { descriptionUrl } from "./load.ts";

/** Where the API is, for people: a server's URL that is relative is meant from the description (OpenAPI 3.0.3, Server Object). */
export function absoluteUrl(serverUrl: string): string {
  return new URL(serverUrl, new URL(descriptionUrl, location.href)).href.replace(/\/$/, "");
}
