/** The search parameters of a project's domains page. `add`: the form to add a domain is open. */
export type DomainsSearch = { add?: true };

export function domainsSearch(search: Record<string, unknown>): DomainsSearch {
  return { add: search["add"] === true ? (true as const) : undefined };
}
