import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { idIn } from "../parts/search-values.ts";

/** The search parameters of the categories page: the category being edited, or a new one. */
type CategorySearch = { category?: number; new?: true };

function categorySearch(search: Record<string, unknown>): CategorySearch {
  return { category: idIn(search["category"]), new: search["new"] === true ? (true as const) : undefined };
}

const categories = createRoute({
  getParentRoute: () => dashboard,
  path: "categories",
  validateSearch: categorySearch,
  component: lazyRouteComponent(() => import("./categories-page.tsx"), "CategoriesPage"),
});

export const categoryRoutes = [categories] as const;
