import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { categorySearch } from "./search.ts";

const categories = createRoute({
  getParentRoute: () => dashboard,
  path: "categories",
  validateSearch: categorySearch,
  component: lazyRouteComponent(() => import("./categories-page.tsx"), "CategoriesPage"),
});

export const categoryRoutes = [categories] as const;
