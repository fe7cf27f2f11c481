import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../root.tsx";
import { destinationOf } from "./destination.ts";

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  // `to` is always returned: the router would keep the unchecked value of an omitted key
  validateSearch: (search): { to?: string | undefined } => ({ to: destinationOf(search["to"], location.origin) }),
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "SignInPage"),
});

export const signInRoutes = [signIn] as const;
