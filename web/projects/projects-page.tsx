import { Button } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useList } from "../calls/lists.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { texts } from "../texts/texts.ts";
import { DeployCommand } from "./deploy-command.tsx";
import { LiveState } from "./live-state.tsx";
import { NewProjectDialog } from "./new-project-dialog.tsx";
import styles from "./projects.module.css";
import type { Project } from "./queries.ts";
import { SiteLink } from "./site-link.tsx";

const route = getRouteApi("/dashboard/projects");
const words = texts.projects;

/** `/dashboard/projects` */
export function ProjectsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList("/projects", {});
  const ask = () => void navigate({ search: { new: true }, resetScroll: false });
  const close = () => void navigate({ search: {}, resetScroll: false });
  const goTo = (to: "/dashboard/projects/$projectId/domains" | "/dashboard/projects/$projectId/settings", { id }: Project) =>
    void navigate({ to, params: { projectId: String(id) } });

  return (
    <>
      <PageHeader title={words.page} lead={words.lead}>
        <Button onClick={ask}>{words.new}</Button>
      </PageHeader>
      {list.isPending && <Waiting lines={6} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {list.rows?.count === 0 && (
        <>
          <EmptyState title={words.emptyTitle} text={words.emptyText}>
            <Button onClick={ask}>{words.makeTitle}</Button>
          </EmptyState>
          <div className={styles.below}>
            <DeployCommand isOpen />
          </div>
        </>
      )}
      {list.rows && list.rows.count > 0 && (
        <RowsTable
          label={words.table}
          columns={columnsOf((project) => [
            { label: words.domains, run: () => goTo("/dashboard/projects/$projectId/domains", project) },
            { label: words.settings, run: () => goTo("/dashboard/projects/$projectId/settings", project) },
          ])}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      {search.new && <NewProjectDialog onClose={close} />}
    </>
  );
}

function columnsOf(actionsOf: (project: Project) => { label: string; run: () => void }[]): Column<Project>[] {
  return [
    {
      id: "name",
      header: words.name,
      cell: ({ id, name }) => (
        <Link to="/dashboard/projects/$projectId" params={{ projectId: String(id) }}>
          {name}
        </Link>
      ),
    },
    { id: "address", header: words.address, width: "38%", cell: ({ url }) => <SiteLink url={url} /> },
    { id: "state", header: words.state, width: "230px", cell: ({ deploymentId }) => <LiveState deploymentId={deploymentId} /> },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: (project) => <RowMenu of={project.name} actions={actionsOf(project)} />,
    },
  ];
}
