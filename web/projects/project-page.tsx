import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { DeploymentList } from "./deployment-list.tsx";
import { ProjectFrame } from "./project-frame.tsx";
import { ShopPanel } from "./shop-panel.tsx";
import { UploadPanel } from "./upload-panel.tsx";

/** `/dashboard/projects/$projectId`: the deployments, and how to deploy. */
export function ProjectPage(): ReactNode {
  return (
    <ProjectFrame part={texts.projects.deployments}>
      {(site) => (
        <>
          <ShopPanel site={site} />
          <UploadPanel site={site} />
          <DeploymentList site={site} />
        </>
      )}
    </ProjectFrame>
  );
}
