import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";

const account = createRoute({
  getParentRoute: () => dashboard,
  path: "account",
  validateSearch: (search): { invite?: true | undefined } => ({ invite: search["invite"] === true || undefined }),
  component: lazyRouteComponent(() => import("./account-page.tsx"), "AccountPage"),
});

export const accountRoutes = [account] as const;
