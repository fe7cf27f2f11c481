import { Button, FileButton, Progress } from "@mantine/core";
import { useRef, type ReactNode } from "react";
import { DropZone } from "../parts/drop-zone.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { formatBytes, formatNumber, formatPercent, texts } from "../texts/texts.ts";
import { chosenArchive, chosenByDrop, chosenFolder, type Chosen } from "./chosen.ts";
import { DeployCommand } from "./deploy-command.tsx";
import projectStyles from "./projects.module.css";
import type { Site } from "./queries.ts";
import { SiteLink } from "./site-link.tsx";
import { siteLimits } from "./site.ts";
import styles from "./upload-panel.module.css";
import { useUpload, type UploadState } from "./use-upload.ts";

const words = texts.projects.upload;
const { filesMax, fileBytesMax, unpackedBytesMax, packedBytesMax } = siteLimits;

/** Deploys a folder or an archive, and shows the progress until it is live or has failed. */
export function UploadPanel({ site }: { site: Site }): ReactNode {
  const { id, slug } = site.project.value;
  const { state, start, again, stop } = useUpload(id);
  const isRunning = state.step === "packing" || state.step === "sending";
  const packed = state.step === "refused" ? state.again : undefined;
  return (
    <section aria-label={words.title} className={styles.upload}>
      {state.step === "refused" && <ErrorPanel error={state.error} {...(packed && { onRetry: () => void again(packed) })} />}
      {isRunning ? <Running state={state} onStop={stop} /> : <DropPlace onChoose={(choose) => void start(choose)} />}
      {state.step === "sent" && <Outcome site={site} deploymentId={state.deploymentId} leftOut={state.leftOut} />}
      {!isRunning && <DeployCommand slug={slug} isOpen={site.deployments.length === 0} />}
    </section>
  );
}

function Running({ state, onStop }: { state: Extract<UploadState, { part: number }>; onStop: () => void }): ReactNode {
  const name = words[state.step];
  return (
    <div className={styles.running}>
      <output>{words.percent(formatPercent(state.part), name)}</output>
      <Progress value={100 * state.part} size="lg" aria-label={name} transitionDuration={150} />
      <Button className={styles.stop} variant="default" onClick={onStop}>
        {words.stop}
      </Button>
    </div>
  );
}

function DropPlace({ onChoose }: { onChoose: (choose: () => Chosen | Promise<Chosen>) => void }): ReactNode {
  const folder = useRef<HTMLInputElement>(null);
  return (
    <DropZone title={words.drop} onDrop={({ items }) => onChoose(() => chosenByDrop(items))}>
      <div className={styles.dropActions}>
        <Button variant="default" onClick={() => folder.current?.click()}>
          {words.folder}
        </Button>
        <FileButton accept=".zip,.gz,.tgz" onChange={(file) => file && onChoose(() => chosenArchive(file))}>
          {(props) => (
            <Button variant="default" {...props}>
              {words.archive}
            </Button>
          )}
        </FileButton>
      </div>
      <p className={projectStyles.hint}>{words.needs}</p>
      <p className={projectStyles.hint}>
        {words.hint(formatNumber(filesMax), formatBytes(fileBytesMax), formatBytes(unpackedBytesMax), formatBytes(packedBytesMax))}
      </p>
      <input
        ref={folder}
        type="file"
        hidden
        // React's types lack this attribute
        {...{ webkitdirectory: "" }}
        aria-label={words.folder}
        onChange={({ currentTarget }) => {
          const { files } = currentTarget;
          if (files && files.length > 0) onChoose(() => chosenFolder(files));
        }}
      />
    </DropZone>
  );
}

type OutcomeProps = { site: Site; deploymentId: number; leftOut: readonly string[] };

/** The state of the uploaded deployment, from the list of deployments, and what was not published. */
function Outcome({ site: { project, deployments }, deploymentId, leftOut }: OutcomeProps): ReactNode {
  const { url, deploymentId: live } = project.value;
  const deployment = deployments.find(({ id }) => id === deploymentId);
  if (deployment?.status === "failed")
    return (
      <div role="alert" className={styles.outcome} data-tone="bad">
        <strong>{words.failed(deploymentId)}</strong>
        <p className={styles.outcomeText}>{deployment.error}</p>
      </div>
    );
  const isLive = deployment?.status === "ready" && live === deploymentId;
  const omitted = [...leftOut, ...(deployment?.leftOut.paths ?? [])].join(", ");
  return (
    <output className={styles.outcome} data-tone={isLive ? "good" : "busy"}>
      {!deployment && words.gone}
      {deployment?.status === "queued" && words.unpacking(deploymentId)}
      {deployment?.status === "ready" && !isLive && words.readyButNotLive(deploymentId)}
      {isLive && (
        <>
          {words.ready(deploymentId)} <SiteLink url={url} />
        </>
      )}
      {omitted && <p className={styles.outcomeText}>{words.leftOut(omitted)}</p>}
    </output>
  );
}
