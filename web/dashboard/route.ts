import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../root.tsx";

/** `/dashboard`: the frame around all pages that need a session. Their routes are below it. */
export const dashboard = createRoute({
  getParentRoute: () => root,
  path: "dashboard",
  component: lazyRouteComponent(() => import("./frame.tsx"), "DashboardFrame"),
});

export const dashboardIndex = createRoute({
  getParentRoute: () => dashboard,
  path: "/",
  validateSearch: (search): { currency?: true | undefined } => ({ currency: search["currency"] === true || undefined }),
  component: lazyRouteComponent(() => import("../home/home-page.tsx"), "HomePage"),
});
