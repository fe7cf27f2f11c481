/** What the address of a project's domains holds: that one is being added. */
export type DomainsSearch = { add?: true };

export function domainsSearch(search: Record<string, unknown>): DomainsSearch {
  return { add: search["add"] === true ? (true as const) : undefined };
}
