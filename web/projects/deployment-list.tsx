import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { rereadList } from "../calls/rows.ts";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { formatBytes, formatNumber, texts } from "../texts/texts.ts";
import styles from "./projects.module.css";
import { promote, rereadSite, type Deployment, type Site } from "./queries.ts";
import { StateBadge, type Tone } from "./state-badge.tsx";

const words = texts.projects.list;
const tones: Record<Deployment["status"], Tone> = { queued: "busy", ready: "plain", failed: "bad" };

/** The deployments that are kept, with the reason for a failure and a button to promote an earlier one. */
export function DeploymentList({ site: { project, deployments } }: { site: Site }): ReactNode {
  const [promoting, setPromoting] = useState<Deployment>();
  const live = project.value.deploymentId;
  return (
    <Section title={words.title} lead={words.lead}>
      {deployments.length === 0 ? (
        <EmptyState title={words.emptyTitle} text={words.emptyText} />
      ) : (
        <ol className={styles.deployments} aria-label={words.label}>
          {deployments.map((deployment) => (
            <DeploymentRow
              key={deployment.id}
              deployment={deployment}
              isLive={deployment.id === live}
              onPromote={() => setPromoting(deployment)}
            />
          ))}
        </ol>
      )}
      {promoting && <PromoteDialog deployment={promoting} live={live} onClose={() => setPromoting(undefined)} />}
    </Section>
  );
}

type RowProps = { deployment: Deployment; isLive: boolean; onPromote: () => void };

function DeploymentRow({ deployment: { id, status, error, files, bytes, createdAt }, isLive, onPromote }: RowProps): ReactNode {
  return (
    <li className={styles.deployment}>
      <div className={styles.deploymentName}>
        <strong>{texts.projects.deployment(id)}</strong>
        {isLive && <StateBadge tone="good">{texts.projects.live}</StateBadge>}
        {!isLive && <StateBadge tone={tones[status]}>{words.status[status]}</StateBadge>}
      </div>
      <div className={styles.deploymentFacts}>
        {status === "ready" && (
          <span>
            {words.files(formatNumber(files), files === 1)}, {formatBytes(bytes)}
          </span>
        )}
        <Moment at={createdAt} />
      </div>
      {status === "ready" && !isLive && (
        <Button size="compact-sm" variant="default" aria-label={words.promoteOf(id)} onClick={onPromote}>
          {words.promote}
        </Button>
      )}
      {error !== null && (
        <p className={styles.reason}>
          <span className={styles.reasonTitle}>{words.whyFailed}: </span>
          {error}
        </p>
      )}
    </li>
  );
}

type DialogProps = { deployment: Deployment; live: number | null; onClose: () => void };

function PromoteDialog({ deployment, live, onClose }: DialogProps): ReactNode {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={words.promoteTitle(deployment.id)}
      action={words.promote}
      isSafe
      onConfirm={() => promote(deployment)}
      onDone={() => {
        notify(words.promoted(deployment.id));
        void rereadSite(client, deployment.projectId);
        void rereadList(client, "/projects");
      }}
      onClose={onClose}
    >
      <p>{words.promoteText(deployment.id, live)}</p>
      <p>{words.promoteDomains}</p>
    </ConfirmDialog>
  );
}
