import { lazyRouteComponent } from "@tanstack/react-router";

/** The test panel, whose code loads for the first operation that has one. */
export const LazyPanel = lazyRouteComponent(() => import("./panel.tsx"), "TryItPanel");
