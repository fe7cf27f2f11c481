import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { DeploymentList } from "./deployment-list.tsx";
import { ProjectFrame } from "./project-frame.tsx";
import { UploadPanel } from "./upload-panel.tsx";

/** `/dashboard/projects/$projectId/versions`: the deployments, and how to upload another. */
export function VersionsPage(): ReactNode {
  return (
    <ProjectFrame part={texts.projects.deployments}>
      {(site) => (
        <>
          <UploadPanel site={site} />
          <DeploymentList site={site} />
        </>
      )}
    </ProjectFrame>
  );
}
