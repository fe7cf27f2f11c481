import type { QueryClient } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { FailurePage, NotFoundPage } from "./frame/message-page.tsx";
import { Shell } from "./frame/shell.tsx";
import { useReferenceCommands } from "./reference/commands.tsx";
import { descriptionQuery } from "./reference/load.ts";
import { texts } from "./texts/texts.ts";

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./start/start.tsx"), "StartPage"),
});

const reference = createRoute({
  getParentRoute: () => root,
  path: "reference",
  component: lazyRouteComponent(() => import("./reference/frame.tsx"), "ReferenceFrame"),
});

const overview = createRoute({
  getParentRoute: () => reference,
  path: "/",
  component: lazyRouteComponent(() => import("./reference/overview.tsx"), "OverviewPage"),
});

const everything = createRoute({
  getParentRoute: () => reference,
  path: "all",
  component: lazyRouteComponent(() => import("./reference/everything.tsx"), "EverythingPage"),
});

const operation = createRoute({
  getParentRoute: () => reference,
  path: "$operationId",
  component: lazyRouteComponent(() => import("./reference/operation-page.tsx"), "OperationPage"),
});

const routeTree = root.addChildren([start, reference.addChildren([overview, everything, operation])]);
const links = [{ to: "/reference" as const, label: texts.reference.page }];

function Root(): ReactNode {
  const commands = useReferenceCommands();
  return (
    <Shell links={links} commands={commands}>
      <Outlet />
    </Shell>
  );
}

/** The addresses of the application. What a page of the reference shows is asked for while its code is still on the way. */
export function createAppRouter(queryClient: QueryClient) {
  if (location.pathname.startsWith("/reference")) void queryClient.prefetchQuery(descriptionQuery);
  return createRouter({
    routeTree,
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultErrorComponent: ({ error, reset }) => (
      <FailurePage text={error instanceof Error ? error.message : String(error)} onRetry={reset} />
    ),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
