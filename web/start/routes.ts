import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../root.tsx";

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./start.tsx"), "StartPage"),
});

export const startRoutes = [start] as const;
