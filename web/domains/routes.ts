import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";

/** The search parameters of a project's domains page. `add`: the form to add a domain is open. */
function domainsSearch(search: Record<string, unknown>): { add?: true } {
  return { add: search["add"] === true ? (true as const) : undefined };
}

const domains = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/domains",
  validateSearch: domainsSearch,
  component: lazyRouteComponent(() => import("./domains-page.tsx"), "DomainsPage"),
});

/** The page that the navigation and the palette open: it leads to the domains of the chosen project. */
const chooseProject = createRoute({
  getParentRoute: () => dashboard,
  path: "domains",
  component: lazyRouteComponent(() => import("./which-project-page.tsx"), "WhichProjectPage"),
});

export const domainRoutes = [domains, chooseProject] as const;
