import type { Project } from "./queries.ts";

/** Whether a project has a primary domain, and whether it is in effect. */
export type AddressState = "inEffect" | "waiting" | "none" | "noDomains";

/** Returns the state of a project's primary domain. `plan` is the account's; `free` has no custom domains. */
export function addressStateOf({ url, slug, domains: { primary } }: Pick<Project, "url" | "slug" | "domains">, plan: string): AddressState {
  if (plan === "free") return "noDomains";
  const { hostname } = new URL(url);
  // While a new primary domain waits, an earlier one may be in effect; the address is then not the platform's.
  if (hostname === primary || !hostname.startsWith(`${slug}.`)) return "inEffect";
  return primary === null ? "none" : "waiting";
}

/** Whether the service sends HSTS: only if the project's address has a standard port. */
export function sendsHsts(url: string): boolean {
  return new URL(url).port === "";
}
