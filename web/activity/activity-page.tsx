import { Button } from "@mantine/core";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Ago } from "../parts/moment.tsx";
import { notify, notifyError } from "../parts/notices.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { activityTexts as words } from "../texts/en-activity.ts";
import { texts } from "../texts/texts.ts";
import { EntryPanel } from "./entry-panel.tsx";
import { ActivityFilterBar } from "./filter-bar.tsx";
import { useNames, type Names } from "./names.ts";
import { activityQuery, downloadActivity, type Entry } from "./queries.ts";
import { filtersOf, type ActivitySearch } from "./search.ts";
import { whatOf, whoOf } from "./words.ts";

const route = getRouteApi("/dashboard/activity");
const { page } = texts.dashboard.activity;

/** `/dashboard/activity`: who did what, for owners. */
export function ActivityPage(): ReactNode {
  const { isOwner } = useSession();
  if (isOwner) return <Activity />;
  return (
    <>
      <PageHeader title={page} lead={words.lead} />
      <EmptyState title={words.ownersOnly} text={words.ownersOnlyText} />
    </>
  );
}

function Activity(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = filtersOf(search);
  const names = useNames();
  const list = useInfiniteQuery(activityQuery(filters));
  const { data: entries, error, hasNextPage } = list;
  const go = (to: ActivitySearch) => void navigate({ search: to, resetScroll: false });
  const isFiltered = Object.keys(filters).length > 0;

  return (
    <>
      <PageHeader title={page} lead={words.lead}>
        <DownloadButton filters={filters} />
      </PageHeader>
      <ActivityFilterBar filters={filters} names={names} onChange={go} />
      <ErrorPanel error={entries ? null : error} onRetry={() => void list.refetch()} />
      {list.isPending && <Waiting lines={6} />}
      {entries?.length === 0 && <Nothing isFiltered={isFiltered} isMore={hasNextPage} />}
      {entries && entries.length > 0 && (
        <RowsTable
          key={JSON.stringify(filters)}
          label={words.table}
          columns={columnsOf(filters, names)}
          rows={entries}
          keyOf={({ position }) => position}
          onOpen={({ position }) => go({ ...filters, event: position })}
        />
      )}
      <ErrorPanel error={list.isFetchNextPageError ? error : null} />
      {hasNextPage && (
        <Button mt="md" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {texts.dashboard.more}
        </Button>
      )}
      {search.event !== undefined && (
        <EntryPanel
          position={search.event}
          listed={entries?.find(({ position }) => position === search.event)}
          names={names}
          onRequest={(request) => go({ kind: "everything", request })}
          onClose={() => go(filters)}
        />
      )}
    </>
  );
}

function Nothing({ isFiltered, isMore }: { isFiltered: boolean; isMore: boolean }): ReactNode {
  if (isMore) return <EmptyState title={words.soFar} text={words.soFarText} />;
  if (isFiltered) return <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />;
  return <EmptyState title={words.noneTitle} text={words.noneText} />;
}

function DownloadButton({ filters }: { filters: ActivitySearch }): ReactNode {
  const { mutate, isPending } = useMutation({
    mutationFn: () => downloadActivity(filters),
    onSuccess: () => notify(words.downloaded),
    onError: (error) => notifyError(error instanceof Refusal ? error : new Error(words.notDownloaded)),
  });
  return (
    <Button variant="default" loading={isPending} onClick={() => mutate()}>
      {words.download}
    </Button>
  );
}

function columnsOf(filters: ActivitySearch, names: Names): Column<Entry>[] {
  return [
    {
      id: "what",
      header: words.what,
      cell: (entry) => (
        <Link to="/dashboard/activity" search={{ ...filters, event: entry.position }} resetScroll={false}>
          {whatOf(entry, names)}
        </Link>
      ),
    },
    { id: "who", header: words.who, width: "240px", cell: whoOf },
    { id: "when", header: words.when, width: "180px", cell: ({ at }) => <Ago at={at} /> },
  ];
}
