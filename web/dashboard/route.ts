import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { root } from "../root.tsx";
import { firstPage } from "./pages.ts";

/** `/dashboard`: the frame around all pages that need a session. Their routes are below it. */
export const dashboard = createRoute({
  getParentRoute: () => root,
  path: "dashboard",
  component: lazyRouteComponent(() => import("./frame.tsx"), "DashboardFrame"),
});

export const dashboardIndex = createRoute({
  getParentRoute: () => dashboard,
  path: "/",
  beforeLoad: (): void => {
    redirect({ to: firstPage, replace: true, throw: true });
  },
});
