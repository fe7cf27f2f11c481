import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { orderSearch } from "./search.ts";

const orders = createRoute({
  getParentRoute: () => dashboard,
  path: "orders",
  validateSearch: orderSearch,
  component: lazyRouteComponent(() => import("./orders-page.tsx"), "OrdersPage"),
});

export const orderRoutes = [orders] as const;
