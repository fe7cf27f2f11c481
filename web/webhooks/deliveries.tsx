import { Button, SegmentedControl } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { Section } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { texts } from "../texts/texts.ts";
import { deliveriesQuery, type Delivery } from "./queries.ts";
import { deliveryStatuses } from "./search.ts";
import styles from "./webhooks.module.css";

type Status = Delivery["status"] | undefined;
type Props = { webhookId: number; status: Status; onStatus: (status: Status) => void; onOpen: (delivery: Delivery) => void };

/** An endpoint's deliveries, newest first. */
export function Deliveries({ webhookId, status, onStatus, onOpen }: Props): ReactNode {
  const list = useInfiniteQuery(deliveriesQuery(webhookId, status));
  const { data: deliveries, error } = list;
  return (
    <Section title={words.deliveries} lead={words.deliveriesLead} actions={<StatusFilter {...{ status, onStatus }} />}>
      <ErrorPanel error={deliveries ? null : error} onRetry={() => void list.refetch()} />
      {list.isPending && <Waiting lines={4} />}
      {deliveries?.length === 0 && status === undefined && <EmptyState title={words.nothingSent} text={words.nothingSentText} />}
      {deliveries?.length === 0 && status !== undefined && <p className={styles.quiet}>{words.nothingMatches}</p>}
      {deliveries && deliveries.length > 0 && (
        <RowsTable
          label={words.deliveries}
          columns={columnsOf(webhookId, status)}
          rows={deliveries}
          keyOf={({ id }) => id}
          isCompact
          onOpen={onOpen}
        />
      )}
      {list.hasNextPage && (
        <Button mt="md" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {texts.dashboard.more}
        </Button>
      )}
    </Section>
  );
}

function StatusFilter({ status, onStatus }: Pick<Props, "status" | "onStatus">): ReactNode {
  const choices = (["all", ...deliveryStatuses] as const).map((value) => ({ value, label: words.statuses[value] }));
  const choose = (to: string) => onStatus(deliveryStatuses.find((known) => known === to));
  return <SegmentedControl size="xs" aria-label={words.filter} data={choices} value={status ?? "all"} onChange={choose} />;
}

function columnsOf(webhookId: number, status: Status): Column<Delivery>[] {
  return [
    {
      id: "type",
      header: words.what,
      cell: ({ id, type }) => (
        <Link
          to="/dashboard/webhooks/$webhookId"
          params={{ webhookId: String(webhookId) }}
          search={{ ...(status && { status }), message: id }}
          resetScroll={false}
        >
          {type}
        </Link>
      ),
    },
    { id: "state", header: words.state, width: "120px", cell: (delivery) => <DeliveryState of={delivery} /> },
    { id: "result", header: words.result, cell: (delivery) => resultOf(delivery) },
    {
      id: "took",
      header: words.took,
      width: "100px",
      isNumeric: true,
      isWideOnly: true,
      cell: ({ durationMs }) => (durationMs === null ? "–" : words.ms(durationMs)),
    },
    { id: "time", header: words.time, width: "180px", cell: ({ attemptedAt, createdAt }) => <Moment at={attemptedAt ?? createdAt} /> },
  ];
}

export function DeliveryState({ of: { status } }: { of: Delivery }): ReactNode {
  return (
    <span className={styles.state} data-state={status}>
      {words.statuses[status]}
    </span>
  );
}

/** Returns the status of the endpoint's response, or why there is none. */
function resultOf({ responseStatus, error, attempts }: Delivery): string {
  if (responseStatus !== null) return String(responseStatus);
  return error ?? (attempts === 0 ? words.noAnswer : "–");
}
