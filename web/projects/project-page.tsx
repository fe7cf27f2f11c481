import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { texts } from "../texts/texts.ts";
import { DeploymentList } from "./deployment-list.tsx";
import { ProjectFrame } from "./project-frame.tsx";
import type { Site } from "./queries.ts";
import { ShopPanel } from "./shop-panel.tsx";
import { shopQuery } from "./shop-queries.ts";
import { UploadPanel } from "./upload-panel.tsx";

/** `/dashboard/projects/$projectId`: the deployments, and how to deploy. */
export function ProjectPage(): ReactNode {
  return <ProjectFrame part={texts.projects.deployments}>{(site) => <Parts site={site} />}</ProjectFrame>;
}

/** Waits for the first part, which would push the others down if it came later. */
function Parts({ site }: { site: Site }): ReactNode {
  const { id, deploymentId } = site.project.value;
  if (useQuery(shopQuery(id, deploymentId)).isLoading) return <Waiting lines={12} />;
  return (
    <>
      <ShopPanel site={site} />
      <UploadPanel site={site} />
      <DeploymentList site={site} />
    </>
  );
}
