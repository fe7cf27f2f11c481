import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../root.tsx";

const reference = createRoute({
  getParentRoute: () => root,
  path: "reference",
  component: lazyRouteComponent(() => import("./frame.tsx"), "ReferenceFrame"),
});

const overview = createRoute({
  getParentRoute: () => reference,
  path: "/",
  component: lazyRouteComponent(() => import("./overview.tsx"), "OverviewPage"),
});

const everything = createRoute({
  getParentRoute: () => reference,
  path: "all",
  component: lazyRouteComponent(() => import("./everything.tsx"), "EverythingPage"),
});

const operation = createRoute({
  getParentRoute: () => reference,
  path: "$operationId",
  component: lazyRouteComponent(() => import("./operation-page.tsx"), "OperationPage"),
});

export const referenceRoutes = [reference.addChildren([overview, everything, operation])] as const;
