import { useQuery } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { BrokenPage, NotFoundPage } from "../frame/message-page.tsx";
import { Shell } from "../frame/shell.tsx";
import { useReferenceCommands } from "../reference/commands.tsx";
import { descriptionQuery } from "../reference/load.ts";
import { referenceBelow } from "../reference/routes.ts";

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

/** The site's own start page, which is not part of this application. */
const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => redirect({ href: "/", reloadDocument: true, throw: true }),
});

const routeTree = root.addChildren([start, referenceBelow(root)]);

function Root(): ReactNode {
  const commands = useReferenceCommands();
  const { isFetching } = useQuery(descriptionQuery);
  const [query, setQuery] = useState("");
  return (
    <Shell links={[]} searched={{ query, onQuery: setQuery, commands, found: [], isSearching: isFetching }}>
      <Outlet />
    </Shell>
  );
}

/** The reference alone, at the same addresses as in the service. */
export function createPublishedRouter() {
  return createRouter({
    routeTree,
    scrollRestoration: true,
    defaultErrorComponent: BrokenPage,
  });
}
