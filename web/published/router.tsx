import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { BrokenPage, NotFoundPage } from "../frame/message-page.tsx";
import { Shell } from "../frame/shell.tsx";
import { useReferenceCommands } from "../reference/commands.tsx";
import { referenceBelow } from "../reference/routes.ts";

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

/** The site's own start, which is no page of this application. */
const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => redirect({ href: "/", reloadDocument: true, throw: true }),
});

const routeTree = root.addChildren([start, referenceBelow(root)]);

function Root(): ReactNode {
  const commands = useReferenceCommands();
  return (
    <Shell links={[]} commands={commands}>
      <Outlet />
    </Shell>
  );
}

/** The reference alone, at the addresses that it has at the service. */
export function createPublishedRouter() {
  return createRouter({
    routeTree,
    scrollRestoration: true,
    defaultErrorComponent: BrokenPage,
  });
}
