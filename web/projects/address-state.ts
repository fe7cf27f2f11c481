import type { Project } from "./queries.ts";

/** Whether a project has a primary name, and whether people find the project there now. */
export type AddressState = "inEffect" | "waiting" | "none" | "noDomains";

/** Which of its names people find a project at. `plan`: the account's, of which `free` has no custom domains. */
export function addressStateOf({ url, slug, domains: { primary } }: Pick<Project, "url" | "slug" | "domains">, plan: string): AddressState {
  if (plan === "free") return "noDomains";
  const { hostname } = new URL(url);
  // While a new primary name waits, an earlier one may be in effect: then the address is not the one on the platform.
  if (hostname === primary || !hostname.startsWith(`${slug}.`)) return "inEffect";
  return primary === null ? "none" : "waiting";
}

/** Whether people reach the service at the ports at which HSTS is sent, by a project's address. */
export function sendsHsts(url: string): boolean {
  return new URL(url).port === "";
}
