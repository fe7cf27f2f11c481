import { createRoute, lazyRouteComponent, type AnyRootRoute } from "@tanstack/react-router";

/** The routes of the reference, below the root route of the application. */
export function referenceBelow<Root extends AnyRootRoute>(root: Root) {
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
  const guide = createRoute({
    getParentRoute: () => reference,
    path: "guides/$name",
    component: lazyRouteComponent(() => import("./guide-page.tsx"), "GuidePage"),
  });
  return reference.addChildren([overview, everything, guide, operation]);
}
