import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";

const keys = createRoute({
  getParentRoute: () => dashboard,
  path: "keys",
  validateSearch: (search): { create?: true | undefined } => ({ create: search["create"] === true || undefined }),
  component: lazyRouteComponent(() => import("./keys-page.tsx"), "KeysPage"),
});

export const keysRoutes = [keys] as const;
