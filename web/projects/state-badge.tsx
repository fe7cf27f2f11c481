import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import projectStyles from "./projects.module.css";
import type { Project } from "./queries.ts";
import styles from "./state-badge.module.css";

const words = texts.projects;
export type Tone = "good" | "busy" | "bad" | "quiet" | "plain";

/** A state as text with a colour for its tone. */
export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}

/** The state of a project: its live deployment, or none. */
export function LiveState({ deploymentId }: Pick<Project, "deploymentId">): ReactNode {
  if (deploymentId === null) return <StateBadge tone="quiet">{words.nothingDeployed}</StateBadge>;
  return (
    <span className={projectStyles.live}>
      <StateBadge tone="good">{words.live}</StateBadge>
      <span>{words.deployment(deploymentId)}</span>
    </span>
  );
}
