import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { BrokenPage, NotFoundPage } from "../frame/message-page.tsx";
import { Shell } from "../frame/shell.tsx";
import { referenceBelow } from "../reference/routes.ts";

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

/** Leaves this application for the site's start page. */
const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => redirect({ href: "/", reloadDocument: true, throw: true }),
});

const routeTree = root.addChildren([start, referenceBelow(root)]);

const palette = async () => (await import("./palette.tsx")).ReferencePalette;

function Root(): ReactNode {
  return (
    <Shell links={[]} palette={palette}>
      <Outlet />
    </Shell>
  );
}

/** Creates a router for the reference alone, at the same addresses as in the service. */
export function createPublishedRouter() {
  return createRouter({
    routeTree,
    scrollRestoration: true,
    defaultErrorComponent: BrokenPage,
  });
}
