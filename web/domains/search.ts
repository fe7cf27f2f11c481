/** The search parameters of a project's domains page: the form to add one is open. */
export type DomainsSearch = { add?: true };

export function domainsSearch(search: Record<string, unknown>): DomainsSearch {
  return { add: search["add"] === true ? (true as const) : undefined };
}
