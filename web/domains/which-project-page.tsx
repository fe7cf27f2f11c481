import { Button } from "@mantine/core";
import { Link, Navigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useList } from "../calls/lists.ts";
import { useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { LiveState } from "../projects/live-state.tsx";
import type { Project } from "../projects/queries.ts";
import { domainsTexts as words } from "../texts/en-domains.ts";
import { texts } from "../texts/texts.ts";
import { PlanNotice } from "./plan-notice.tsx";

const to = "/dashboard/projects/$projectId/domains";
const paramsOf = ({ id }: Project) => ({ projectId: String(id) });

/** `/dashboard/domains`: lists the projects to choose from, or opens the domains of the only project. */
export function WhichProjectPage(): ReactNode {
  const list = useList("/projects", {});
  const { plan } = useSession().account;
  const { rows } = list;
  const first = rows?.at(0);
  if (first && rows?.count === 1 && !list.isFetching) return <Navigate to={to} params={paramsOf(first)} replace />;
  return (
    <>
      <PageHeader title={words.title} lead={words.lead} />
      {plan === "free" && <PlanNotice plan={plan} />}
      {list.isPending && <Waiting lines={6} />}
      {!rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {rows?.count === 0 && plan !== "free" && <ProjectFirst />}
      {rows && rows.count > 1 && <RowsTable label={words.which} columns={columns} rows={rows} keyOf={({ id }) => id} />}
    </>
  );
}

function ProjectFirst(): ReactNode {
  return (
    <EmptyState title={texts.projects.emptyTitle} text={words.projectFirst}>
      <Button renderRoot={(props) => <Link to="/dashboard/projects" search={{ new: true }} {...props} />}>
        {texts.projects.makeTitle}
      </Button>
    </EmptyState>
  );
}

const columns: Column<Project>[] = [
  {
    id: "name",
    header: words.which,
    cell: (project) => (
      <Link to={to} params={paramsOf(project)}>
        {words.titleOf(project.name)}
      </Link>
    ),
  },
  { id: "state", header: texts.projects.state, width: "40%", cell: ({ deploymentId }) => <LiveState deploymentId={deploymentId} /> },
];
