import { Button } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useList } from "../calls/lists.ts";
import { useCategoryNames } from "../categories/category-select.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { ExportDialog } from "../importing/export-dialog.tsx";
import { StockCell } from "../inventory/stock-cell.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { texts } from "../texts/texts.ts";
import { AnimalFilterBar, type FilterChange } from "./pet-filters.tsx";
import { NewAnimalForm } from "./pet-form.tsx";
import { AnimalPanel } from "./pet-panel.tsx";
import { DeleteAnimalDialog } from "./delete-pet-dialog.tsx";
import type { Pet } from "./queries.ts";
import { animalSearch, filtersOf, queryOf } from "./search.ts";
import { StatusBadge } from "./status-badge.tsx";

const route = getRouteApi("/dashboard/animals");
const words = texts.store.animals;

/** `/dashboard/animals`: the catalogue with its filters. */
export function AnimalsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const goTo = useNavigateToOrders();
  const filters = filtersOf(search);
  const list = useList("/pets", queryOf(filters));
  const categoryNames = useCategoryNames();
  const [deleting, setDeleting] = useState<Pet>();
  const show = (dialog: Record<string, unknown>) =>
    void navigate({ search: (now) => animalSearch({ ...filtersOf(now), ...dialog }), resetScroll: false });
  // typed text applies a moment later; a dialog opened meanwhile stays open
  const filter = (change: FilterChange) => void navigate({ search: (now) => animalSearch({ ...now, ...change }), replace: true });
  const isFiltered = (filters.q ?? filters.status ?? filters.categoryId) !== undefined;
  const isEmpty = list.rows?.count === 0;

  const actionsOf = (pet: Pet): RowAction[] => [
    { label: words.edit, run: () => show({ animal: pet.id }) },
    { label: words.order, run: () => goTo({ order: pet.id }) },
    { label: words.orders, run: () => goTo({ petId: pet.id }) },
    { label: words.delete, run: () => setDeleting(pet), isDangerous: true },
  ];
  return (
    <>
      <Header onExport={() => show({ export: true })} onNew={() => show({ new: true })} />
      {(isFiltered || !isEmpty) && <AnimalFilterBar filters={filters} onChange={filter} />}
      {list.isPending && <Waiting lines={8} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {isEmpty && (isFiltered ? <NothingMatches /> : <NoAnimals onNew={() => show({ new: true })} />)}
      {list.rows && !isEmpty && (
        <RowsTable
          key={JSON.stringify(filters)}
          label={words.table}
          columns={columnsOf(categoryNames, filters, actionsOf)}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      {search.new && (
        <Dialog title={words.new} onClose={() => show({})}>
          <NewAnimalForm categoryId={filters.categoryId} onClose={() => show({})} />
        </Dialog>
      )}
      {search.export && <ExportDialog filters={queryOf(filters)} onClose={() => show({})} />}
      {search.animal && <AnimalPanel key={search.animal} petId={search.animal} onDelete={setDeleting} onClose={() => show({})} />}
      {deleting && (
        <DeleteAnimalDialog
          pet={deleting}
          onDeleted={() => {
            setDeleting(undefined);
            show({});
          }}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  );
}

function Header({ onExport, onNew }: { onExport: () => void; onNew: () => void }): ReactNode {
  return (
    <PageHeader title={words.page} lead={words.lead}>
      <Button variant="default" renderRoot={(props) => <Link to="/dashboard/import" {...props} />}>
        {words.import}
      </Button>
      <Button variant="default" onClick={onExport}>
        {words.export}
      </Button>
      <Button onClick={onNew}>{words.new}</Button>
    </PageHeader>
  );
}

function useNavigateToOrders(): (search: { order?: number; petId?: number }) => void {
  const navigate = route.useNavigate();
  return (search) => void navigate({ to: "/dashboard/orders", search });
}

function columnsOf(
  categoryNames: ReadonlyMap<number, string>,
  filters: ReturnType<typeof filtersOf>,
  actionsOf: (pet: Pet) => RowAction[],
): Column<Pet>[] {
  return [
    {
      id: "name",
      header: words.name,
      cell: ({ id, name }) => (
        <Link to="/dashboard/animals" search={{ ...filters, animal: id }} resetScroll={false} preload={false}>
          {name}
        </Link>
      ),
    },
    {
      id: "category",
      header: words.category,
      width: "20%",
      cell: ({ categoryId }) => categoryNames.get(categoryId) ?? texts.store.categories.category(categoryId),
    },
    { id: "stock", header: words.stock, width: "240px", cell: (pet) => <StockCell petId={pet.id} name={pet.name} /> },
    { id: "status", header: words.status, width: "125px", cell: ({ status }) => <StatusBadge status={status} /> },
    { id: "id", header: words.id, width: "95px", isNumeric: true, cell: ({ id }) => id },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: (pet) => <RowMenu of={pet.name} actions={actionsOf(pet)} />,
    },
  ];
}

function NothingMatches(): ReactNode {
  return <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />;
}

function NoAnimals({ onNew }: { onNew: () => void }): ReactNode {
  return (
    <EmptyState title={words.emptyTitle} text={words.emptyText}>
      <Button renderRoot={(props) => <Link to="/dashboard/import" {...props} />}>{texts.importing.action}</Button>
      <Button variant="default" onClick={onNew}>
        {words.new}
      </Button>
    </EmptyState>
  );
}
