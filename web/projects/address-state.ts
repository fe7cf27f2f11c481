import type { Project } from "./queries.ts";

/** Whether a project has a primary domain, and whether it is in effect. */
export type AddressState = "inEffect" | "waiting" | "none" | "noDomains";

/** The address state of a project. `plan` is the account's; `free` has no custom domains. */
export function addressStateOf({ url, slug, domains: { primary } }: Pick<Project, "url" | "slug" | "domains">, plan: string): AddressState {
  if (plan === "free") return "noDomains";
  const { hostname } = new URL(url);
  // While a new primary domain waits, an earlier one may be in effect; the address is then not the platform's.
  if (hostname === primary || !hostname.startsWith(`${slug}.`)) return "inEffect";
  return primary === null ? "none" : "waiting";
}

/** Whether the service uses the standard ports, by a project's address. HSTS is sent only there. */
export function sendsHsts(url: string): boolean {
  return new URL(url).port === "";
}
