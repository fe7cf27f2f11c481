import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useList } from "../calls/lists.ts";
import { changeRows, reread } from "../calls/rows.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { useCategoryCounts } from "../pets/counts.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { EditCategoryDialog, NewCategoryDialog } from "./category-form.tsx";
import { allCategoriesQuery, deleteCategory, type Category } from "./queries.ts";

const route = getRouteApi("/dashboard/categories");
const words = texts.store.categories;

/** `/dashboard/categories` */
export function CategoriesPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList("/categories", {});
  const counts = useCategoryCounts();
  const [deleting, setDeleting] = useState<Category>();
  const open = (category?: number) => void navigate({ search: category === undefined ? { new: true } : { category }, resetScroll: false });
  const close = () => void navigate({ search: {}, resetScroll: false });

  return (
    <>
      <PageHeader title={words.page} lead={words.lead}>
        <Button onClick={() => open()}>{words.new}</Button>
      </PageHeader>
      {list.isPending && <Waiting lines={6} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {list.rows?.count === 0 && <EmptyState title={words.emptyTitle} text={words.emptyText} />}
      {list.rows && list.rows.count > 0 && (
        <RowsTable label={words.table} columns={columnsOf(counts, open, setDeleting)} rows={list.rows} keyOf={({ id }) => id} isCompact />
      )}
      {search.new && <NewCategoryDialog onClose={close} />}
      {search.category && <EditCategoryDialog categoryId={search.category} onClose={close} />}
      {deleting && <DeleteDialog category={deleting} count={counts?.get(deleting.id)} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

function columnsOf(
  counts: ReadonlyMap<number, number> | undefined,
  open: (id: number) => void,
  askToDelete: (category: Category) => void,
): Column<Category>[] {
  return [
    {
      id: "name",
      header: words.name,
      cell: ({ id, name }) => (
        <Link to="/dashboard/animals" search={{ categoryId: id }}>
          {name}
        </Link>
      ),
    },
    { id: "description", header: words.description, cell: ({ description }) => description ?? "–" },
    {
      id: "animals",
      header: texts.store.animals.page,
      width: "110px",
      isNumeric: true,
      cell: ({ id }) => counts && formatNumber(counts.get(id) ?? 0),
    },
    { id: "id", header: words.id, isWideOnly: true, width: "90px", isNumeric: true, cell: ({ id }) => id },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: (category) => (
        <RowMenu
          of={category.name}
          actions={[
            { label: words.edit, run: () => open(category.id) },
            { label: words.delete, run: () => askToDelete(category), isDangerous: true },
          ]}
        />
      ),
    },
  ];
}

function DeleteDialog({ category, count, onClose }: { category: Category; count: number | undefined; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const { id, name } = category;
  if (count !== undefined && count > 0) return <NotEmptyDialog {...{ category, count, onClose }} />;
  return (
    <ConfirmDialog
      title={words.deleteTitle(name)}
      action={words.delete}
      onConfirm={() => deleteCategory(id)}
      onDone={() => {
        notify(words.deleted(name));
        changeRows(client, "/categories", (row) => (row.id === id ? undefined : row));
        void reread(client, { queryKey: allCategoriesQuery.queryKey });
      }}
      onClose={onClose}
    >
      <p>{words.deleteText}</p>
      <Link to="/dashboard/animals" search={{ categoryId: id }}>
        {words.showAnimals}
      </Link>
    </ConfirmDialog>
  );
}

/** Leads to the animals, which can be moved there all at once. */
function NotEmptyDialog({ category: { id, name }, count, onClose }: { category: Category; count: number; onClose: () => void }): ReactNode {
  return (
    <Dialog title={words.notEmptyTitle(name)} onClose={onClose}>
      <p>{words.notEmptyText(texts.store.animals.total(formatNumber(count)))}</p>
      <Button data-autofocus renderRoot={(props) => <Link to="/dashboard/animals" search={{ categoryId: id }} {...props} />}>
        {words.showAnimals}
      </Button>
    </Dialog>
  );
}
