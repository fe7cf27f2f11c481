import type { ReactNode } from "react";
import { Badge } from "../parts/badge.tsx";
import { texts } from "../texts/texts.ts";
import projectStyles from "./projects.module.css";
import type { Project } from "./queries.ts";

const words = texts.projects;

/** The state of a project: its live deployment, or none. */
export function LiveState({ deploymentId }: Pick<Project, "deploymentId">): ReactNode {
  if (deploymentId === null) return <Badge tone="quiet">{words.nothingDeployed}</Badge>;
  return (
    <span className={projectStyles.live}>
      <Badge tone="good">{words.live}</Badge>
      <span>{words.deployment(deploymentId)}</span>
    </span>
  );
}
