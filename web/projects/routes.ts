import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { projectsSearch } from "./search.ts";

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

const settings = createRoute({
  getParentRoute: () => dashboard,
  path: "projects/$projectId/settings",
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

export const projectRoutes = [projects, project, settings] as const;
