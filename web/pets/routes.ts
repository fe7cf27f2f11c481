import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { idIn, present } from "../parts/search-values.ts";
import { petSearch } from "./search.ts";

const animals = createRoute({
  getParentRoute: () => dashboard,
  path: "animals",
  validateSearch: petSearch,
  beforeLoad: ({ search }) => {
    // addresses from before an animal had a page
    if (search.animal !== undefined)
      redirect({ to: "/dashboard/animals/$animalId", params: { animalId: String(search.animal) }, replace: true, throw: true });
    if (search.new) redirect({ to: "/dashboard/animals/new", search: { categoryId: search.categoryId }, replace: true, throw: true });
  },
  component: lazyRouteComponent(() => import("./pets-page.tsx"), "PetsPage"),
});

const newAnimal = createRoute({
  getParentRoute: () => dashboard,
  path: "animals/new",
  validateSearch: (search: Record<string, unknown>): { categoryId?: number } => present({ categoryId: idIn(search["categoryId"]) }),
  component: lazyRouteComponent(() => import("./new-animal-page.tsx"), "NewAnimalPage"),
});

const bin = createRoute({
  getParentRoute: () => dashboard,
  path: "animals/bin",
  component: lazyRouteComponent(() => import("../bin/bin-page.tsx"), "BinPage"),
});

const animal = createRoute({
  getParentRoute: () => dashboard,
  path: "animals/$animalId",
  component: lazyRouteComponent(() => import("./animal-page.tsx"), "AnimalPage"),
});

export const petRoutes = [animals, newAnimal, bin, animal] as const;
