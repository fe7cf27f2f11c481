/** What the address of the projects holds: that a new one is being made. */
export type ProjectsSearch = { new?: true };

export function projectsSearch(search: Record<string, unknown>): ProjectsSearch {
  return { new: search["new"] === true ? (true as const) : undefined };
}
