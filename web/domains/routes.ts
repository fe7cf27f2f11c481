import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { domainsSearch } from "./search.ts";

const domains = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/domains",
  validateSearch: domainsSearch,
  component: lazyRouteComponent(() => import("./domains-page.tsx"), "DomainsPage"),
});

export const domainRoutes = [domains] as const;
