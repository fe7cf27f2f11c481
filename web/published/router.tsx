import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { FailurePage, NotFoundPage } from "../frame/message-page.tsx";
import { Shell } from "../frame/shell.tsx";
import { useReferenceCommands } from "../reference/commands.tsx";
import { EverythingPage } from "../reference/everything.tsx";
import { ReferenceFrame } from "../reference/frame.tsx";
import { OperationPage } from "../reference/operation-page.tsx";
import { OverviewPage } from "../reference/overview.tsx";

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

/** The site's own start, which is no page of this application. */
const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => redirect({ href: "/", reloadDocument: true, throw: true }),
});

const reference = createRoute({ getParentRoute: () => root, path: "reference", component: ReferenceFrame });
const overview = createRoute({ getParentRoute: () => reference, path: "/", component: OverviewPage });
const everything = createRoute({ getParentRoute: () => reference, path: "all", component: EverythingPage });
const operation = createRoute({ getParentRoute: () => reference, path: "$operationId", component: OperationPage });

const routeTree = root.addChildren([start, reference.addChildren([overview, everything, operation])]);

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
    defaultErrorComponent: ({ error, reset }) => (
      <FailurePage text={error instanceof Error ? error.message : String(error)} onRetry={reset} />
    ),
  });
}
