import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { orderSearch } from "./search.ts";

const orders = createRoute({
  getParentRoute: () => dashboard,
  path: "orders",
  validateSearch: orderSearch,
  component: lazyRouteComponent(() => import("./orders-page.tsx"), "OrdersPage"),
});

const order = createRoute({
  getParentRoute: () => dashboard,
  path: "orders/$orderId",
  component: lazyRouteComponent(() => import("./order-page.tsx"), "OrderPage"),
});

export const orderRoutes = [orders, order] as const;
