import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";

const importing = createRoute({
  getParentRoute: () => dashboard,
  path: "import",
  component: lazyRouteComponent(() => import("./import-page.tsx"), "ImportPage"),
});

export const importingRoutes = [importing] as const;
