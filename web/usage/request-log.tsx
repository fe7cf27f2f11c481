import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Key } from "../calls/members.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Filters } from "../parts/filters.tsx";
import { Ago } from "../parts/moment.tsx";
import { Section } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { requestLogTexts as words } from "../texts/en-request-log.ts";
import { texts } from "../texts/texts.ts";
import { keyName } from "./key-name.ts";
import { polledKeysQuery, requestLogQuery, statusClasses, type LoggedRequest, type LogFilters } from "./queries.ts";
import styles from "./usage.module.css";

/** The last requests with the account's keys, by key and class of status. */
export function RequestLog(): ReactNode {
  const [filters, setFilters] = useState<LogFilters>({});
  const { data: keys } = useQuery(polledKeysQuery);
  const list = useInfiniteQuery(requestLogQuery(filters));
  const { data: requests, error, hasNextPage } = list;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Section title={words.title} lead={words.lead}>
      <LogFilterBar filters={filters} keys={keys} onChange={setFilters} />
      <ErrorPanel error={requests ? null : error} onRetry={() => void list.refetch()} />
      {list.isPending && <Waiting lines={4} />}
      {requests?.length === 0 && (
        <EmptyState
          title={isFiltered ? texts.store.nothingMatches : words.none}
          text={isFiltered ? texts.store.nothingMatchesText : words.noneText}
        />
      )}
      {requests && requests.length > 0 && (
        <RowsTable
          key={JSON.stringify(filters)}
          label={words.title}
          columns={columnsOf(keys)}
          rows={requests}
          keyOf={({ position }) => position}
          isCompact
        />
      )}
      <ErrorPanel error={list.isFetchNextPageError ? error : null} />
      {hasNextPage && (
        <Button mt="md" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {texts.dashboard.more}
        </Button>
      )}
    </Section>
  );
}

type BarProps = { filters: LogFilters; keys: Key[] | undefined; onChange: (filters: LogFilters) => void };

function LogFilterBar({ filters: { keyId, status }, keys, onChange }: BarProps): ReactNode {
  const set = (id: number | undefined, answered: LogFilters["status"]) =>
    onChange({ ...(id !== undefined && { keyId: id }), ...(answered && { status: answered }) });
  return (
    <Filters onClear={keyId === undefined && status === undefined ? undefined : () => onChange({})}>
      <Select
        label={words.key}
        placeholder={words.everyKey}
        data={(keys ?? []).map(({ id, name }) => ({ value: String(id), label: name }))}
        value={keyId === undefined ? null : String(keyId)}
        onChange={(value) => set(value === null ? undefined : Number(value), status)}
        searchable
        clearable
      />
      <Select
        label={words.status}
        placeholder={words.everyStatus}
        data={statusClasses.map((value) => ({ value, label: words.statuses[value] }))}
        value={status ?? null}
        onChange={(value) =>
          set(
            keyId,
            statusClasses.find((name) => name === value),
          )
        }
        clearable
      />
    </Filters>
  );
}

function columnsOf(keys: Key[] | undefined): Column<LoggedRequest>[] {
  return [
    {
      id: "request",
      header: words.request,
      cell: ({ method, route }) => (
        <>
          <span className={styles.method}>{method}</span> {route ?? words.noRoute}
        </>
      ),
    },
    {
      id: "status",
      header: words.status,
      width: "96px",
      isNumeric: true,
      cell: ({ status }) => <span className={status >= 400 ? styles.banned : undefined}>{status}</span>,
    },
    { id: "key", header: words.key, width: "200px", cell: ({ keyId }) => keyName(keyId, keys) },
    { id: "when", header: words.when, width: "190px", cell: ({ at }) => <Ago at={at} /> },
  ];
}
