import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { NotFoundPage } from "../frame/message-page.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { LiveState } from "./live-state.tsx";
import styles from "./projects.module.css";
import { isGone, siteQuery, type Site } from "./queries.ts";
import { SiteLink } from "./site-link.tsx";

const words = texts.projects;

type Props = { part: string; children: (site: Site) => ReactNode };

/** The frame of a project's pages: its name, its address and the tabs. `part` is the current tab's title. */
export function ProjectFrame(props: Props): ReactNode {
  const { projectId = "" } = useParams({ strict: false });
  if (!/^[1-9]\d{0,15}$/.test(projectId)) return <NoSuchProject />;
  return <Framed key={projectId} projectId={Number(projectId)} {...props} />;
}

/** For an id that does not exist or belongs to another account: the service answers both alike. */
function NoSuchProject(): ReactNode {
  return (
    <NotFoundPage text={words.notFound}>
      <Link to="/dashboard/projects">{words.trail}</Link>
    </NotFoundPage>
  );
}

function Framed({ projectId, part, children }: Props & { projectId: number }): ReactNode {
  const { data: site, error, refetch } = useQuery(siteQuery(projectId));
  if (isGone(error)) return <NoSuchProject />;
  if (!site) return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Waiting lines={6} />;
  const { name, url, deploymentId } = site.project.value;
  return (
    <>
      <Link className={styles.trail} to="/dashboard/projects">
        <span aria-hidden="true">←</span> {words.trail}
      </Link>
      <PageHeader
        title={name}
        tab={`${part} · ${name}`}
        lead={
          <span className={styles.facts}>
            <SiteLink url={url} />
            <LiveState deploymentId={deploymentId} />
          </span>
        }
      />
      <ProjectNavigation projectId={projectId} />
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {children(site)}
    </>
  );
}

function ProjectNavigation({ projectId }: { projectId: number }): ReactNode {
  const target = { params: { projectId: String(projectId) }, className: styles.tab, activeOptions: { exact: true, includeSearch: false } };
  return (
    <nav className={styles.tabs} aria-label={words.parts}>
      <Link to="/dashboard/projects/$projectId/shop" {...target}>
        {words.shop}
      </Link>
      <Link to="/dashboard/projects/$projectId/versions" {...target}>
        {words.deployments}
      </Link>
      <Link to="/dashboard/projects/$projectId/domains" {...target}>
        {words.domains}
      </Link>
      <Link to="/dashboard/projects/$projectId/settings" {...target}>
        {words.settings}
      </Link>
    </nav>
  );
}
