import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { texts } from "../texts/texts.ts";
import { useWebhookActions } from "./actions.ts";
import { WebhookDialog, type Asked } from "./dialogs.tsx";
import { webhooksQuery, type Webhook } from "./queries.ts";
import { Gets, WebhookState } from "./state.tsx";
import { AddWebhookDialog } from "./webhook-form.tsx";
import styles from "./webhooks.module.css";

const route = getRouteApi("/dashboard/webhooks");
const refreshMs = 10_000;

/** `/dashboard/webhooks`: the account's endpoints. */
export function WebhooksPage(): ReactNode {
  const { data: webhooks, error, refetch } = useQuery({ ...webhooksQuery, refetchInterval: refreshMs });
  const isAdding = route.useSearch({ select: (search) => search.new });
  const navigate = route.useNavigate();
  const [open, setOpen] = useState<{ asked: Asked; webhook: Webhook }>();
  const actionsOf = useWebhookActions((asked, webhook) => setOpen({ asked, webhook }));
  const setAdding = (to: true | undefined) => void navigate({ search: { new: to }, replace: true });
  const openWebhook = ({ id }: Webhook) => void navigate({ to: "/dashboard/webhooks/$webhookId", params: { webhookId: String(id) } });

  return (
    <>
      <PageHeader title={texts.dashboard.webhooks.page} lead={words.lead}>
        <Button onClick={() => setAdding(true)}>{words.new}</Button>
      </PageHeader>
      <ErrorPanel error={webhooks ? null : error} onRetry={() => void refetch()} />
      {!webhooks && !error && <Waiting lines={4} />}
      {webhooks?.length === 0 && <EmptyState title={words.none} text={words.noneText} />}
      {webhooks && webhooks.length > 0 && (
        <RowsTable
          label={texts.dashboard.webhooks.page}
          columns={columnsOf(actionsOf)}
          rows={webhooks}
          keyOf={({ id }) => id}
          onOpen={openWebhook}
        />
      )}
      {isAdding && <AddWebhookDialog onClose={() => setAdding(undefined)} />}
      {open && <WebhookDialog {...open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function columnsOf(actionsOf: (webhook: Webhook) => RowAction[]): Column<Webhook>[] {
  return [
    { id: "address", header: words.address, cell: (webhook) => <Address of={webhook} /> },
    { id: "gets", header: words.gets, width: "200px", cell: (webhook) => <Gets of={webhook} /> },
    { id: "state", header: words.state, width: "130px", cell: (webhook) => <WebhookState of={webhook} /> },
    {
      id: "success",
      header: words.lastSuccess,
      width: "170px",
      cell: ({ deliveredAt }) => (deliveredAt === null ? words.notYet : <Moment at={deliveredAt} />),
    },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: (webhook) => <RowMenu of={webhook.url} actions={actionsOf(webhook)} />,
    },
  ];
}

function Address({ of: { id, url, description } }: { of: Webhook }): ReactNode {
  return (
    <span className={styles.address}>
      <Link to="/dashboard/webhooks/$webhookId" params={{ webhookId: String(id) }}>
        {url}
      </Link>
      {description !== "" && <span className={styles.quiet}>{description}</span>}
    </span>
  );
}
