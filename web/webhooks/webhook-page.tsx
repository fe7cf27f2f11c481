import { Alert, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { texts } from "../texts/texts.ts";
import { useWebhookActions } from "./actions.ts";
import { Deliveries } from "./deliveries.tsx";
import { DeliveryPanel } from "./delivery-panel.tsx";
import { WebhookDialog, type Asked } from "./dialogs.tsx";
import { webhooksQuery, type Webhook } from "./queries.ts";
import { Gets, Trouble, WebhookState } from "./state.tsx";
import styles from "./webhooks.module.css";

const route = getRouteApi("/dashboard/webhooks/$webhookId");
const refreshMs = 5_000;

/** `/dashboard/webhooks/$webhookId`: an endpoint and its deliveries. */
export function WebhookPage(): ReactNode {
  const { webhookId } = route.useParams();
  const { data: webhooks, error, refetch } = useQuery({ ...webhooksQuery, refetchInterval: refreshMs });
  const webhook = webhooks?.find(({ id }) => String(id) === webhookId);
  return (
    <>
      <p className={styles.back}>
        <Link to="/dashboard/webhooks">{words.back}</Link>
      </p>
      {webhook && <Endpoint key={webhook.id} webhook={webhook} />}
      {!webhook && <PageHeader title={texts.dashboard.webhooks.page} />}
      <ErrorPanel error={webhooks ? null : error} onRetry={() => void refetch()} />
      {!webhooks && !error && <Waiting lines={6} />}
      {webhooks && !webhook && <p>{words.gone}</p>}
    </>
  );
}

function Endpoint({ webhook }: { webhook: Webhook }): ReactNode {
  const { message, recover, status } = route.useSearch();
  const navigate = route.useNavigate();
  const [asked, setAsked] = useState<Asked | undefined>(recover && !webhook.enabled ? { what: "turnOn" } : undefined);
  const actionsOf = useWebhookActions(setAsked);
  const [test, ...others] = actionsOf(webhook);
  const { id, url, description, ordered, enabled } = webhook;
  const show = (to: { message?: number; status?: typeof status }) => void navigate({ search: to, resetScroll: false });
  const search = status === undefined ? {} : { status };

  return (
    <>
      <PageHeader title={url} lead={description}>
        {!enabled && <Button onClick={() => setAsked({ what: "turnOn" })}>{words.turnOn}</Button>}
        <Button variant="default" onClick={test?.run}>
          {words.test}
        </Button>
        <RowMenu of={url} actions={others} />
      </PageHeader>
      <p className={styles.facts}>
        <WebhookState of={webhook} />
        <span>
          {words.gets}: <Gets of={webhook} />
        </span>
        {ordered && <span>{words.inOrder}</span>}
      </p>
      {(!enabled || webhook.failingSince !== null) && (
        <Alert className={styles.trouble} data-off={!enabled}>
          <Trouble of={webhook} />
        </Alert>
      )}
      <Deliveries
        webhookId={id}
        status={status}
        onStatus={(to) => show(to === undefined ? {} : { status: to })}
        onOpen={(delivery) => show({ ...search, message: delivery.id })}
      />
      {message !== undefined && (
        <DeliveryPanel
          webhookId={id}
          deliveryId={message}
          onReplay={(after) => setAsked({ what: "replay", after })}
          onClose={() => show(search)}
        />
      )}
      {asked && (
        <WebhookDialog
          asked={asked}
          webhook={webhook}
          onDeleted={() => void navigate({ to: "/dashboard/webhooks" })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
