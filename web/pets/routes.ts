import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { petSearch } from "./search.ts";

const animals = createRoute({
  getParentRoute: () => dashboard,
  path: "animals",
  validateSearch: petSearch,
  component: lazyRouteComponent(() => import("./pets-page.tsx"), "PetsPage"),
});

export const petRoutes = [animals] as const;
