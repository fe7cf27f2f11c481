import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { type UsageSearch, intervals } from "./series.ts";

const usage = createRoute({
  getParentRoute: () => dashboard,
  path: "usage",
  validateSearch: ({ interval, key, operation }: Record<string, unknown>): UsageSearch => ({
    interval: intervals.find((known) => known === interval),
    key: Number.isSafeInteger(key) ? Number(key) : undefined,
    operation: typeof operation === "string" ? operation.slice(0, 100) : undefined,
  }),
  component: lazyRouteComponent(() => import("./usage-page.tsx"), "UsagePage"),
});

export const usageRoutes = [usage] as const;
