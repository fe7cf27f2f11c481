import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Badge, type Tone } from "../parts/badge.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify, notifyError } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { formatBytes, formatNumber, texts } from "../texts/texts.ts";
import styles from "./deployment-list.module.css";
import { promote, rereadProjects, type Deployment, type Site } from "./queries.ts";
import { SiteLink } from "./site-link.tsx";

const words = texts.projects.list;
const tones: Record<Deployment["status"], Tone> = { queued: "busy", ready: "plain", failed: "bad" };

/** The deployments that are kept, with the reason for a failure and a button to promote an earlier one. */
export function DeploymentList({ site: { project, deployments } }: { site: Site }): ReactNode {
  const { id: projectId, deploymentId: live } = project.value;
  const { promoting, onPromote } = usePromotion(projectId, live);
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
              isPromoting={promoting === deployment.id}
              onPromote={() => onPromote(deployment.id)}
            />
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Promotes a deployment at once. Undo in the notice promotes the one that was live before, which is kept like the others. */
function usePromotion(projectId: number, live: number | null) {
  const client = useQueryClient();
  const serve = async (id: number): Promise<void> => {
    await promote({ projectId, id });
    await rereadProjects(client);
  };
  const { mutate, isPending, variables } = useMutation({
    mutationFn: serve,
    onSuccess: (_, id) => notify(words.promoted(id), live === null ? {} : { undo: () => serve(live) }),
    onError: notifyError,
  });
  return { promoting: isPending ? variables : undefined, onPromote: mutate };
}

type RowProps = { deployment: Deployment; isLive: boolean; isPromoting: boolean; onPromote: () => void };

function DeploymentRow({ deployment, isLive, isPromoting, onPromote }: RowProps): ReactNode {
  const { id, status, error, files, bytes, url, createdAt } = deployment;
  return (
    <li className={styles.deployment}>
      <div className={styles.deploymentName}>
        <strong>{texts.projects.deployment(id)}</strong>
        {isLive && <Badge tone="good">{texts.projects.live}</Badge>}
        {!isLive && <Badge tone={tones[status]}>{words.status[status]}</Badge>}
      </div>
      {status === "ready" && (
        <span className={styles.fact} data-column="2">
          {words.files(formatNumber(files), files === 1)}, {formatBytes(bytes)}
        </span>
      )}
      <span className={styles.fact} data-column="3">
        <Moment at={createdAt} />
      </span>
      {url !== null && (
        <span className={styles.fact} data-column="4">
          <SiteLink url={url}>{words.own(id)}</SiteLink>
        </span>
      )}
      {status === "ready" && !isLive && (
        <Button
          data-column="5"
          size="compact-sm"
          variant="default"
          loading={isPromoting}
          aria-label={words.promoteOf(id)}
          onClick={onPromote}
        >
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
