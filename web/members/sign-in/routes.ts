import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../root.tsx";
import { destinationOf } from "./destination.ts";

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  // `to` is always there: what is left out here would stay as it came
  validateSearch: (search): { to?: string | undefined } => ({ to: destinationOf(search["to"], location.origin) }),
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "SignInPage"),
});

export const signInRoutes = [signIn] as const;
