import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../root.tsx";
import { destinationOf } from "./address.ts";

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  // each key is always returned: the router would keep the unchecked value of an omitted one
  validateSearch: (search): { to?: string | undefined; add?: true | undefined } => ({
    to: destinationOf(search["to"], location.origin),
    add: search["add"] === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "SignInPage"),
});

export const signInRoutes = [signIn] as const;
