import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { inventorySearch } from "./search.ts";

const inventory = createRoute({
  getParentRoute: () => dashboard,
  path: "inventory",
  validateSearch: inventorySearch,
  component: lazyRouteComponent(() => import("./inventory-page.tsx"), "InventoryPage"),
});

export const inventoryRoutes = [inventory] as const;
