import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";

/** The search parameters of the projects page. `new`: the form for a new project is open. */
type ProjectsSearch = { new?: true };

function projectsSearch(search: Record<string, unknown>): ProjectsSearch {
  return { new: search["new"] === true ? (true as const) : undefined };
}

const projects = createRoute({
  getParentRoute: () => dashboard,
  path: "projects",
  validateSearch: projectsSearch,
  component: lazyRouteComponent(() => import("./projects-page.tsx"), "ProjectsPage"),
});

const project = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId",
  component: lazyRouteComponent(() => import("./project-page.tsx"), "ProjectPage"),
});

const shop = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/shop",
  component: lazyRouteComponent(() => import("./shop-page.tsx"), "ShopPage"),
});

const versions = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/versions",
  component: lazyRouteComponent(() => import("./versions-page.tsx"), "VersionsPage"),
});

const settings = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/settings",
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

export const projectRoutes = [projects, project, shop, versions, settings] as const;
