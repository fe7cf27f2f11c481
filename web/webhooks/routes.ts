import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { webhookSearch } from "./search.ts";

const webhooks = createRoute({
  getParentRoute: () => dashboard,
  path: "webhooks",
  validateSearch: (search): { new?: true | undefined } => ({ new: search["new"] === true || undefined }),
  component: lazyRouteComponent(() => import("./webhooks-page.tsx"), "WebhooksPage"),
});

const webhook = createRoute({
  getParentRoute: () => dashboard,
  path: "webhooks/$webhookId",
  validateSearch: webhookSearch,
  component: lazyRouteComponent(() => import("./webhook-page.tsx"), "WebhookPage"),
});

export const webhookRoutes = [webhooks, webhook] as const;
