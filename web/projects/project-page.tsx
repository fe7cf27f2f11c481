import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { texts } from "../texts/texts.ts";
import { ProjectFrame } from "./project-frame.tsx";
import type { Site } from "./queries.ts";
import { shopQuery } from "./storefront.ts";

// most projects open with the shop, so its page loads while the service is asked
import("./shop-page.tsx").catch(() => undefined);

/** `/dashboard/projects/$projectId`: leads to the project's first page. */
export function ProjectPage(): ReactNode {
  return <ProjectFrame part={texts.projects.shop}>{(site) => <FirstPage site={site} />}</ProjectFrame>;
}

/** The shop comes first, also before anything is published. A project that serves an uploaded site opens with its versions. */
function FirstPage({ site }: { site: Site }): ReactNode {
  const { id, deploymentId } = site.project.value;
  const { data, isLoading } = useQuery(shopQuery(id, deploymentId));
  if (isLoading) return <Waiting lines={12} />;
  const isUploaded = deploymentId !== null && data?.settings === null;
  const to = isUploaded ? "/dashboard/projects/$projectId/versions" : "/dashboard/projects/$projectId/shop";
  return <Navigate to={to} params={{ projectId: String(id) }} replace />;
}
