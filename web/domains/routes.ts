import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { domainsSearch } from "./search.ts";

const domains = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/domains",
  validateSearch: domainsSearch,
  component: lazyRouteComponent(() => import("./domains-page.tsx"), "DomainsPage"),
});

/** The navigation and the palette lead here, and from here to the domains of a project. */
const ofWhich = createRoute({
  getParentRoute: () => dashboard,
  path: "domains",
  component: lazyRouteComponent(() => import("./which-project-page.tsx"), "WhichProjectPage"),
});

export const domainRoutes = [domains, ofWhich] as const;
