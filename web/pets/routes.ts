import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { animalSearch } from "./search.ts";

const animals = createRoute({
  getParentRoute: () => dashboard,
  path: "animals",
  validateSearch: animalSearch,
  component: lazyRouteComponent(() => import("./pets-page.tsx"), "AnimalsPage"),
});

export const animalRoutes = [animals] as const;
