import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { domainsSearch } from "./search.ts";

const domains = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/domains",
  validateSearch: domainsSearch,
  component: lazyRouteComponent(() => import("./domains-page.tsx"), "DomainsPage"),
});

/** The page that the navigation and the palette open. It leads on to the domains of a project. */
const chooseProject = createRoute({
  getParentRoute: () => dashboard,
  path: "domains",
  component: lazyRouteComponent(() => import("./which-project-page.tsx"), "WhichProjectPage"),
});

export const domainRoutes = [domains, chooseProject] as const;
