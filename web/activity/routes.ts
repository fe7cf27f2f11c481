import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { activitySearch } from "./search.ts";

const activity = createRoute({
  getParentRoute: () => dashboard,
  path: "activity",
  validateSearch: activitySearch,
  component: lazyRouteComponent(() => import("./activity-page.tsx"), "ActivityPage"),
});

export const activityRoutes = [activity] as const;
