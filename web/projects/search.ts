/** The search parameters of the projects page: the form for a new project is open. */
export type ProjectsSearch = { new?: true };

export function projectsSearch(search: Record<string, unknown>): ProjectsSearch {
  return { new: search["new"] === true ? (true as const) : undefined };
}
