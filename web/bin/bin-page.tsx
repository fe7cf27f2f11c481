import { Button, Checkbox } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { formatPrice } from "../../src/platform/currencies.ts";
import { useCategoryNames } from "../categories/category-select.tsx";
import { PawIcon } from "../frame/icons.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Ago, Moment } from "../parts/moment.tsx";
import { notifyError } from "../parts/notices.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import styles from "../pets/bulk.module.css";
import thumb from "../pets/thumb.module.css";
import { binTexts as words } from "../texts/en-bin.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { CategoryDialog, DeleteDialog, EmptyDialog } from "./bin-dialogs.tsx";
import { binQuery, type Binned } from "./queries.ts";
import { returnAndSay } from "./returning.ts";

/** What a dialog asks about: the animals of which it asks, or the whole bin. */
type Asked = { kind: "delete" | "category"; animals: readonly Binned[] } | { kind: "empty" };

/** `/dashboard/animals/bin`: the animals that were deleted here in the last 30 days. */
export function BinPage(): ReactNode {
  const list = useInfiniteQuery(binQuery);
  const { data: animals, error, hasNextPage } = list;
  const categoryNames = useCategoryNames();
  const [chosenIds, setChosenIds] = useState<ReadonlySet<number>>(new Set());
  const [asked, setAsked] = useState<Asked>();
  const { mutate: restore, isPending } = useRestore((homeless) => setAsked({ kind: "category", animals: homeless }));
  const chosen = animals?.filter(({ id }) => chosenIds.has(id)) ?? [];
  const toggle = (id: number) => setChosenIds(chosenIds.symmetricDifference(new Set([id])));
  const isEmpty = animals?.length === 0;

  return (
    <>
      <Header onEmpty={animals && !isEmpty ? () => setAsked({ kind: "empty" }) : undefined} />
      {list.isPending && <Waiting lines={6} />}
      <ErrorPanel error={animals ? null : error} onRetry={() => void list.refetch()} />
      {isEmpty && <EmptyState title={words.nothing} text={words.nothingText} />}
      {animals && !isEmpty && (
        <RowsTable
          label={words.table}
          columns={[
            selectColumn(chosenIds, toggle),
            ...columnsOf(categoryNames),
            actionsColumn({
              isPending,
              onRestore: (one) => restore([one]),
              onDelete: (one) => setAsked({ kind: "delete", animals: [one] }),
            }),
          ]}
          rows={animals}
          keyOf={({ id }) => id}
        />
      )}
      <ErrorPanel error={list.isFetchNextPageError ? error : null} />
      {hasNextPage && (
        <Button mt="md" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {texts.dashboard.more}
        </Button>
      )}
      {chosen.length > 0 && (
        <ChosenBar
          count={chosen.length}
          isPending={isPending}
          onRestore={() => restore(chosen)}
          onDelete={() => setAsked({ kind: "delete", animals: chosen })}
          onClear={() => setChosenIds(new Set())}
        />
      )}
      {asked && <BinDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

/** `onEmpty` is undefined while there is nothing to delete. */
function Header({ onEmpty }: { onEmpty: (() => void) | undefined }): ReactNode {
  return (
    <PageHeader title={texts.store.animals.bin} lead={words.lead}>
      <Button variant="default" renderRoot={(props) => <Link to="/dashboard/animals" {...props} />}>
        {words.all}
      </Button>
      {onEmpty && (
        <Button variant="default" className={styles.dangerous} onClick={onEmpty}>
          {words.empty}
        </Button>
      )}
    </PageHeader>
  );
}

/** Returns animals from the bin; calls `onHomeless` with those whose category is gone. */
function useRestore(onHomeless: (animals: readonly Binned[]) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (animals: readonly Binned[]) => {
      const ids = new Set(
        await returnAndSay(
          client,
          animals.map(({ id }) => id),
        ),
      );
      return animals.filter(({ id }) => ids.has(id));
    },
    onSuccess: (homeless) => homeless.length > 0 && onHomeless(homeless),
    onError: notifyError,
  });
}

function BinDialog({ asked, onClose }: { asked: Asked; onClose: () => void }): ReactNode {
  if (asked.kind === "empty") return <EmptyDialog onClose={onClose} />;
  if (asked.kind === "delete") return <DeleteDialog animals={asked.animals} onClose={onClose} />;
  return <CategoryDialog animals={asked.animals} onClose={onClose} />;
}

type BarProps = { count: number; isPending: boolean; onRestore: () => void; onDelete: () => void; onClear: () => void };

function ChosenBar({ count, isPending, onRestore, onDelete, onClear }: BarProps): ReactNode {
  return (
    <section className={styles.bar} aria-label={words.chosenTitle}>
      <output className={styles.count}>{words.chosen(formatNumber(count))}</output>
      <span className={styles.space} />
      <Button size="compact-md" variant="default" loading={isPending} onClick={onRestore}>
        {words.restore}
      </Button>
      <Button size="compact-md" variant="default" className={styles.dangerous} onClick={onDelete}>
        {words.delete}
      </Button>
      <Button size="compact-md" variant="subtle" onClick={onClear}>
        {words.clear}
      </Button>
    </section>
  );
}

function selectColumn(chosen: ReadonlySet<number>, toggle: (id: number) => void): Column<Binned> {
  return {
    id: "select",
    header: words.chosenTitle,
    width: "44px",
    isActions: true,
    cell: ({ id, name }) => <Checkbox size="xs" aria-label={words.choose(name)} checked={chosen.has(id)} onChange={() => toggle(id)} />,
  };
}

function columnsOf(categoryNames: ReadonlyMap<number, string>): Column<Binned>[] {
  return [
    {
      id: "name",
      header: words.name,
      cell: ({ name, photo }) => (
        <span className={thumb.beside}>
          <span className={thumb.thumb}>
            {photo ? <img src={photo.url} alt="" width={40} height={40} loading="lazy" decoding="async" /> : <PawIcon />}
          </span>
          <span className={thumb.name}>{name}</span>
        </span>
      ),
    },
    {
      id: "category",
      header: words.category,
      width: "14%",
      cell: ({ categoryId }) => categoryNames.get(categoryId) ?? texts.store.categories.category(categoryId),
    },
    {
      id: "price",
      header: words.price,
      width: "110px",
      isNumeric: true,
      isWideOnly: true,
      cell: ({ price }) => (price === null ? "–" : formatPrice(price)),
    },
    { id: "deleted", header: words.deleted, width: "170px", cell: ({ deletedAt }) => <Ago at={deletedAt} /> },
    { id: "gone", header: words.gone, width: "170px", cell: ({ goneAt }) => <Moment at={goneAt} /> },
  ];
}

type Actions = { isPending: boolean; onRestore: (one: Binned) => void; onDelete: (one: Binned) => void };

function actionsColumn({ isPending, onRestore, onDelete }: Actions): Column<Binned> {
  return {
    id: "actions",
    header: texts.dashboard.actions,
    width: "150px",
    isActions: true,
    cell: (one) => (
      <span className={styles.actions}>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={words.restoreOf(one.name)}
          disabled={isPending}
          onClick={() => onRestore(one)}
        >
          {words.restore}
        </Button>
        <RowMenu of={one.name} actions={[{ label: words.delete, run: () => onDelete(one), isDangerous: true }]} />
      </span>
    ),
  };
}
