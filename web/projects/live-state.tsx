import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./projects.module.css";
import type { Project } from "./queries.ts";
import { StateBadge } from "./state-badge.tsx";

const words = texts.projects;

/** The state of a project: its live deployment, or none. */
export function LiveState({ deploymentId }: Pick<Project, "deploymentId">): ReactNode {
  if (deploymentId === null) return <StateBadge tone="quiet">{words.nothingDeployed}</StateBadge>;
  return (
    <span className={styles.live}>
      <StateBadge tone="good">{words.live}</StateBadge>
      <span>{words.deployment(deploymentId)}</span>
    </span>
  );
}
