import { Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { readCall } from "../calls/send.ts";
import { allCategoriesQuery } from "../categories/queries.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { HistoryList, type HistoryStep } from "../parts/history-list.tsx";
import { Section } from "../parts/page-header.tsx";
import { animalHistoryTexts as words } from "../texts/en-animal-history.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import styles from "./animal-history.module.css";
import { changesOf, entriesOf, titleOf, type Entry, type HistoryEvent } from "./history-words.ts";
import { petQuery } from "./queries.ts";

type Page = { events: HistoryEvent[]; read: number; next: number | null };

/** What happened to an animal, the newest first; older changes when they are asked for. */
export default function AnimalHistory({ petId }: { petId: number }): ReactNode {
  const { data, error, isFetchingNextPage, isPending, fetchNextPage, hasNextPage, refetch } = useInfiniteQuery({
    queryKey: [...petQuery(petId).queryKey, "history"], // a change of the pet rereads both
    staleTime: 0,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const query = pageParam === 0 ? "" : `?before=${pageParam}`;
      return readCall<Page>(`/pets/${petId}/history${query}`, signal);
    },
    getNextPageParam: ({ next }) => next,
  });
  const { data: categories = [] } = useQuery(allCategoriesQuery);
  const categoryNames = new Map(categories.map(({ id, name }) => [id, name]));
  const entries = entriesOf(data?.pages.flatMap(({ events }) => events) ?? []);
  const read = data?.pages.reduce((sum, page) => sum + page.read, 0) ?? 0;
  return (
    <Section title={words.title} lead={words.lead}>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {isPending && !error && <Waiting lines={3} />}
      {entries.length > 0 && <HistoryList label={words.title} steps={entries.map((entry) => stepOf(entry, categoryNames))} />}
      {data && (
        <output className={styles.quiet}>
          {hasNextPage ? words.readSoFar(formatNumber(read)) : entries.length === 0 ? words.nothing : ""}
        </output>
      )}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </Section>
  );
}

function stepOf(entry: Entry, categoryNames: ReadonlyMap<number, string>): HistoryStep {
  const { position, at, actor, orderId } = entry;
  const beside = orderId === undefined ? undefined : <OrderLink orderId={orderId} />;
  return { position, at, actor, title: titleOf(entry), changes: changesOf(entry, categoryNames), beside };
}

function OrderLink({ orderId }: { orderId: number }): ReactNode {
  return (
    <Link to="/dashboard/orders/$orderId" params={{ orderId: String(orderId) }}>
      {texts.store.orders.editTitle(orderId)}
    </Link>
  );
}
