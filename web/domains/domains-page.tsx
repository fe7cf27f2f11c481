import { Alert, Button } from "@mantine/core";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { ProjectFrame } from "../projects/project-frame.tsx";
import { rereadProjects, type Site } from "../projects/queries.ts";
import { domainsTexts as words } from "../texts/en-domains.ts";
import { texts } from "../texts/texts.ts";
import { AddDomainDialog } from "./add-domain-dialog.tsx";
import { DomainCard } from "./domain-card.tsx";
import styles from "./domains.module.css";
import { PlanNotice } from "./plan-notice.tsx";
import { domainsQuery, showDomain, type RemovedDomain } from "./queries.ts";
import { RedirectDialog } from "./redirect-dialog.tsx";
import { RemoveDomainDialog } from "./remove-domain-dialog.tsx";
import type { Domain } from "./state.ts";

const route = getRouteApi("/dashboard/projects/$projectId/domains");

/** `/dashboard/projects/$projectId/domains`: the project's own host names (specification 5.1). */
export function DomainsPage(): ReactNode {
  return <ProjectFrame part={words.title}>{(site) => <Domains site={site} />}</ProjectFrame>;
}

type OpenDialog = { what: "redirect" | "remove"; domain: Domain };

function Domains({ site: { project } }: { site: Site }): ReactNode {
  const { id, url, deploymentId } = project.value;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { plan } = useSession().account;
  const [since, setSince] = useState(() => Date.now());
  const [dialog, setDialog] = useState<OpenDialog>();
  const [removed, setRemoved] = useState<RemovedDomain>();
  const list = useInfiniteQuery(domainsQuery(id, since));
  const domains = list.data ?? [];
  const isFree = plan === "free";
  const mayAdd = !isFree && deploymentId !== null;
  const openAdding = (add: boolean) => void navigate({ search: add ? { add: true } : {}, resetScroll: false });

  function show(domain: Domain): void {
    setSince(Date.now());
    showDomain(client, domain);
  }
  function onDone(removal?: RemovedDomain | null): void {
    if (removal !== undefined) setRemoved(removal ?? undefined);
    setSince(Date.now());
    void rereadProjects(client); // the other domains and the address too
  }
  return (
    <Section title={words.title} lead={words.lead} actions={mayAdd && <Button onClick={() => openAdding(true)}>{words.add}</Button>}>
      {isFree && <PlanNotice plan={plan} isSuspending={domains.length > 0} />}
      {!isFree && deploymentId === null && <DeployFirst projectId={id} />}
      {removed && <RemovalNotice removed={removed} onClose={() => setRemoved(undefined)} />}
      {list.isPending && <Waiting lines={4} />}
      <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />
      {list.data?.length === 0 && mayAdd && <NoDomains onAdd={() => openAdding(true)} />}
      {domains.length > 0 && (
        <ul className={styles.domains} aria-label={words.list}>
          {domains.map((domain) => (
            <li key={domain.hostname}>
              <DomainCard
                domain={domain}
                projectUrl={url}
                onChanged={show}
                onReread={() => onDone()}
                onRedirect={() => setDialog({ what: "redirect", domain })}
                onRemove={() => setDialog({ what: "remove", domain })}
              />
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button mt="md" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {texts.dashboard.more}
        </Button>
      )}
      {search.add && mayAdd && <AddDomainDialog projectId={id} onAdded={show} onClose={() => openAdding(false)} />}
      {dialog && <ChosenDialog {...{ dialog, domains, onDone }} project={project.value} onClose={() => setDialog(undefined)} />}
    </Section>
  );
}

type ChosenDialogProps = {
  dialog: OpenDialog;
  project: Site["project"]["value"];
  domains: Domain[];
  /** `removed`: the answer to a removal, or null if it was empty; undefined after a redirect was set. */
  onDone: (removed?: RemovedDomain | null) => void;
  onClose: () => void;
};

function ChosenDialog({ dialog: { what, domain }, project, domains, onDone, onClose }: ChosenDialogProps): ReactNode {
  if (what === "redirect") return <RedirectDialog domain={domain} domains={domains} onDone={() => onDone()} onClose={onClose} />;
  return (
    <RemoveDomainDialog
      domain={domain}
      project={project}
      domains={domains}
      onRemoved={(removed) => onDone(removed ?? null)}
      onClose={onClose}
    />
  );
}

/** A notice after a removal: the service's warning, and the domains that redirected to the removed one. */
function RemovalNotice({ removed, onClose }: { removed: RemovedDomain; onClose: () => void }): ReactNode {
  const { hostname, warning, redirects } = removed;
  return (
    <Alert
      className={styles.left}
      title={warning === undefined ? words.removed(hostname) : words.removedTitle(hostname)}
      withCloseButton
      closeButtonLabel={texts.dashboard.dismiss}
      onClose={onClose}
    >
      {warning !== undefined && <p>{warning}</p>}
      {redirects.length > 0 && <p>{words.freedRedirects(redirects.join(", "))}</p>}
    </Alert>
  );
}

function NoDomains({ onAdd }: { onAdd: () => void }): ReactNode {
  return (
    <EmptyState title={words.emptyTitle} text={words.emptyText}>
      <Button onClick={onAdd}>{words.add}</Button>
    </EmptyState>
  );
}

function DeployFirst({ projectId }: { projectId: number }): ReactNode {
  return (
    <EmptyState title={words.deployTitle} text={words.deployText}>
      <Button renderRoot={(props) => <Link to="/dashboard/projects/$projectId" params={{ projectId: String(projectId) }} {...props} />}>
        {words.toProject}
      </Button>
    </EmptyState>
  );
}
