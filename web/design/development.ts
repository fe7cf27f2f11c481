import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../root.tsx";

/** `/dashboard/design`, which only Vite's server for development has. */
export const designRoutes = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => root,
        path: "dashboard/design",
        component: lazyRouteComponent(() => import("./design-page.tsx"), "DesignPage"),
      }),
    ]
  : [];
