import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { readCall } from "../calls/send.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { insideNamesTexts as words } from "../texts/en-inside-names.ts";
import { formatNumber } from "../texts/texts.ts";
import styles from "./inside-names.module.css";
import type { Pet } from "./queries.ts";
import type { PetStatus } from "./search.ts";
import { WithThumb } from "./thumb.tsx";

type Part = { pets: Pet[]; read: number; next: number | null };

type Props = { q: string; status?: PetStatus; categoryId?: number; isAsked: boolean; onAsk: () => void };

/** Searches within the words of names, a part of the animals at a time, when it is asked to. Finds only what passes the list's other filters. */
export default function InsideNames({ q, status, categoryId, isAsked, onAsk }: Props): ReactNode {
  const { data, error, isFetching, fetchNextPage, hasNextPage, refetch } = useInfiniteQuery({
    queryKey: [dashboardKey, "/pets", "inside", q, status, categoryId],
    enabled: isAsked,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        q,
        ...(status && { status }),
        ...(categoryId && { categoryId: String(categoryId) }),
        ...(pageParam > 0 && { after: String(pageParam) }),
      });
      return readCall<Part>(`/pets/inside?${query}`, signal);
    },
    getNextPageParam: ({ next }) => next,
  });
  const pets = data?.pages.flatMap((part) => part.pets) ?? [];
  const read = formatNumber(data?.pages.reduce((sum, part) => sum + part.read, 0) ?? 0);
  if (!isAsked)
    return (
      <p>
        <Button variant="default" onClick={onAsk}>
          {words.search(q)}
        </Button>
      </p>
    );
  return (
    <Section title={words.title(q)}>
      {pets.length > 0 && (
        <ul className={styles.list} aria-label={words.title(q)}>
          {pets.map(({ id, name }) => (
            <li key={id}>
              <WithThumb petId={id}>
                <Link to="/dashboard/animals/$animalId" params={{ animalId: String(id) }} preload={false}>
                  {name}
                </Link>
              </WithThumb>
            </li>
          ))}
        </ul>
      )}
      {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data && (
        <output className={styles.status}>
          {hasNextPage ? words.stopped(read) : pets.length > 0 ? words.complete(read) : words.nothing(read)}
        </output>
      )}
      {(hasNextPage || isFetching) && (
        <Button variant="default" loading={isFetching} onClick={() => void fetchNextPage()}>
          {words.goOn}
        </Button>
      )}
    </Section>
  );
}
