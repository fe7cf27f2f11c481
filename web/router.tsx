import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { activityRoutes } from "./activity/routes.ts";
import { categoryRoutes } from "./categories/routes.ts";
import { dashboard, dashboardIndex } from "./dashboard/route.ts";
import { designRoutes } from "./design/development.ts";
import { domainRoutes } from "./domains/routes.ts";
import { BrokenPage } from "./frame/message-page.tsx";
import { importingRoutes } from "./importing/routes.ts";
import { inventoryRoutes } from "./inventory/routes.ts";
import { keysRoutes } from "./keys/routes.ts";
import { accountRoutes } from "./members/routes.ts";
import { signInRoutes } from "./members/sign-in/routes.ts";
import { orderRoutes } from "./orders/routes.ts";
import { petRoutes } from "./pets/routes.ts";
import { projectRoutes } from "./projects/routes.ts";
import { descriptionQuery } from "./reference/load.ts";
import { referenceBelow } from "./reference/routes.ts";
import { LazyPanel } from "./reference/try-it/lazy-panel.ts";
import { reservationRoutes } from "./reservations/routes.ts";
import { root } from "./root.tsx";
import { startRoutes } from "./start/routes.ts";
import { usageRoutes } from "./usage/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

const routeTree = root.addChildren([
  ...startRoutes,
  ...designRoutes,
  referenceBelow(root),
  ...signInRoutes,
  dashboard.addChildren([
    dashboardIndex,
    ...petRoutes,
    ...categoryRoutes,
    ...orderRoutes,
    ...reservationRoutes,
    ...inventoryRoutes,
    ...importingRoutes,
    ...projectRoutes,
    ...domainRoutes,
    ...usageRoutes,
    ...keysRoutes,
    ...webhookRoutes,
    ...activityRoutes,
    ...accountRoutes,
  ]),
]);

/** Creates the application's router. The reference's data is requested while its code is still loading. */
export function createAppRouter(queryClient: QueryClient) {
  if (location.pathname.startsWith("/reference")) void queryClient.prefetchQuery(descriptionQuery);
  return createRouter({
    routeTree,
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultErrorComponent: BrokenPage,
  });
}

type AppRouter = ReturnType<typeof createAppRouter>;

/** Loads the code and data of the first view. Until then, the text that the server sent with the page stays. */
export function loadFirstView(router: AppRouter, queryClient: QueryClient): Promise<unknown> {
  return location.pathname.startsWith("/reference") ? loadReference(router, queryClient) : loadDashboard(router, queryClient);
}

/** How long (ms) the first view waits for the data of its frame. */
const frameMsMax = 3_000;

async function loadDashboard(router: AppRouter, queryClient: QueryClient): Promise<void> {
  const [{ sessionQuery }, { webhooksQuery }] = await Promise.all([import("./dashboard/session.ts"), import("./webhooks/queries.ts")]);
  const ofFrame = [queryClient.prefetchQuery(sessionQuery), queryClient.prefetchQuery({ ...webhooksQuery, retry: false })];
  await Promise.all([router.load(), Promise.race([Promise.all(ofFrame), new Promise((resolve) => setTimeout(resolve, frameMsMax))])]);
}

/** Loads the highlighter too, so that code has its colours when it first appears, and the code of the operation's panel. */
async function loadReference(router: AppRouter, queryClient: QueryClient): Promise<void> {
  const highlighter = import("./frame/code-block.tsx").then(({ highlighterQuery }) => queryClient.prefetchQuery(highlighterQuery));
  const [{ operations }] = await Promise.all([queryClient.ensureQueryData(descriptionQuery), router.load(), highlighter]);
  const shown = operations.find(({ id }) => id === location.pathname.split("/")[2]);
  if (shown?.hasPanel) await LazyPanel.preload?.();
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
