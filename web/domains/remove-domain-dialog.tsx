import { useRef, type ReactNode } from "react";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { notify } from "../parts/notices.ts";
import type { Project } from "../projects/queries.ts";
import { domainsTexts as words } from "../texts/en-domains.ts";
import styles from "./domains.module.css";
import { removeDomain, type RemovedDomain } from "./queries.ts";
import type { Domain } from "./state.ts";

type Props = {
  domain: Domain;
  project: Project;
  /** The domains that the page has read so far; there may be more. */
  domains: readonly Domain[];
  onRemoved: (removed: RemovedDomain | undefined) => void;
  onClose: () => void;
};

/** Asks before a domain is removed, and lists the consequences (specification 5.11). */
export function RemoveDomainDialog({ domain: removed, project, domains, onRemoved, onClose }: Props): ReactNode {
  const answer = useRef<RemovedDomain>(undefined);
  const { hostname, record } = removed;
  const isShopsAddress = new URL(project.url).hostname === hostname;
  const redirecting = new Set([
    ...project.domains.redirects.filter(({ to }) => to === hostname).map(({ from }) => from),
    ...domains.filter(({ redirect }) => redirect?.to === hostname).map((domain) => domain.hostname),
  ]);
  return (
    <ConfirmDialog
      title={words.removeTitle(hostname)}
      action={words.remove}
      onConfirm={async () => {
        answer.current = await removeDomain(removed);
      }}
      onDone={() => {
        notify(words.removed(hostname));
        onRemoved(answer.current);
      }}
      onClose={onClose}
    >
      <p>{words.removeText(hostname)}</p>
      {redirecting.size > 0 && (
        <>
          <p>{words.removeRedirects}</p>
          <ul className={styles.names}>
            {[...redirecting].map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </>
      )}
      {isShopsAddress && <p>{words.removePrimary(`${project.slug}.${record.value}`)}</p>}
    </ConfirmDialog>
  );
}
