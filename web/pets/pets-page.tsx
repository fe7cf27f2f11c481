import { Button, Checkbox } from "@mantine/core";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { formatPrice } from "../../src/platform/currencies.ts";
import { useCategoryNames } from "../categories/category-select.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { ExportDialog } from "../importing/export-dialog.tsx";
import { StockCell } from "../inventory/stock-count.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { present } from "../parts/search-values.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { BulkBar } from "./bulk.tsx";
import type { Choice } from "./choice.ts";
import type { PetCounts } from "./counts.ts";
import { DeletePetDialog } from "./delete-pet-dialog.tsx";
import { PetFilterBar, type FilterChange } from "./pet-filters.tsx";
import type { Pet } from "./queries.ts";
import { petSearch, filtersOf, queryOf, sortOf, type PetFilters, type PetSearch, type PetSort } from "./search.ts";
import { StatusBadge } from "./status-badge.tsx";
import { useSummary } from "./summaries.ts";
import { WithThumb } from "./thumb.tsx";
import { useAnimals } from "./use-animals.ts";

const route = getRouteApi("/dashboard/animals");
const words = texts.store.animals;
const InsideNames = lazy(() => import("./inside-names.tsx"));

/** `/dashboard/animals`: the catalogue with its filters. */
export function PetsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const router = useRouter();
  const goTo = useNavigateToOrders();
  const open = ({ id }: Pet) => void navigate({ to: "/dashboard/animals/$animalId", params: { animalId: String(id) } });
  const filters = filtersOf(search);
  const { list, counts, choice } = useAnimals(filters);
  const categoryNames = useCategoryNames();
  const [deleting, setDeleting] = useState<Pet>();
  const show = (dialog: Record<string, unknown>) =>
    void navigate({ search: (now) => petSearch({ ...filtersOf(now), inside: now.inside, ...dialog }), resetScroll: false });
  // typed text applies after a pause: keeping the other parameters leaves a dialog open that was opened meanwhile
  const filter = (change: FilterChange) => {
    if (!router.latestLocation.pathname.endsWith("/animals")) return; // an animal was opened meanwhile
    void navigate({ search: (now) => petSearch({ ...now, ...("q" in change && { inside: undefined }), ...change }), replace: true });
  };
  const isFiltered = (filters.q ?? filters.status ?? filters.categoryId) !== undefined;
  const isEmpty = list.rows?.count === 0;
  const actionsOf = (pet: Pet): RowAction[] => [
    { label: words.edit, run: () => open(pet) },
    ...(pet.status === "sold" ? [] : [{ label: words.order, run: () => goTo({ order: pet.id }) }]),
    { label: words.orders, run: () => goTo({ petId: pet.id }) },
    { label: words.delete, run: () => setDeleting(pet), isDangerous: true },
  ];
  return (
    <>
      <Header
        counts={counts}
        onExport={() => show({ export: true })}
        onNew={() => void navigate({ to: "/dashboard/animals/new", search: present({ categoryId: filters.categoryId }) })}
      />
      {(isFiltered || !isEmpty) && <PetFilterBar filters={filters} onChange={filter} />}
      {list.isPending && <Waiting lines={8} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {isEmpty && (isFiltered ? <NothingMatches /> : <EmptyState title={words.emptyTitle} text={words.emptyText} />)}
      {list.rows && !isEmpty && (
        <RowsTable
          key={JSON.stringify(filters)}
          label={words.table}
          columns={[selectColumn(choice), ...columnsOf(categoryNames, filters, actionsOf)]}
          rows={list.rows}
          keyOf={({ id }) => id}
          isCompact
          sorting={{ sort: sortOf(filters), onSort: (sort) => filter({ sort: sort as PetSort }) }}
          onOpen={open}
        />
      )}
      {filters.q !== undefined && list.rows && (
        <Suspense>
          <InsideNames {...filters} q={filters.q} isAsked={search.inside === true} onAsk={() => show({ inside: true })} />
        </Suspense>
      )}
      {choice.ids.length > 0 && (
        <BulkBar ids={choice.ids} all={counts?.count} onAll={choice.all} isChoosing={choice.isChoosing} onClear={choice.clear} />
      )}
      <PetDialogs {...{ search, filters, show, deleting, setDeleting }} />
    </>
  );
}

type DialogsProps = {
  search: PetSearch;
  filters: PetFilters;
  show: (dialog: Record<string, unknown>) => void;
  deleting: Pet | undefined;
  setDeleting: (pet: Pet | undefined) => void;
};

function PetDialogs({ search, filters, show, deleting, setDeleting }: DialogsProps): ReactNode {
  return (
    <>
      {search.export && <ExportDialog filters={queryOf(filters)} onClose={() => show({})} />}
      {deleting && <DeletePetDialog pet={deleting} onDeleted={() => setDeleting(undefined)} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

type HeaderProps = { counts: PetCounts | undefined; onExport: () => void; onNew: () => void };

function Header({ counts, onExport, onNew }: HeaderProps): ReactNode {
  const total = counts && formatNumber(counts.count);
  const lead = total === undefined ? words.lead : counts?.isMore ? words.more(total) : words.total(total);
  return (
    <PageHeader title={words.page} lead={lead}>
      <Button variant="default" renderRoot={(props) => <Link to="/dashboard/animals/bin" {...props} />}>
        {words.bin}
      </Button>
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

function selectColumn({ has, toggle }: Choice): Column<Pet> {
  return {
    id: "select",
    header: words.bulk.title,
    width: "44px",
    isActions: true,
    cell: ({ id, name }) => <Checkbox size="xs" aria-label={words.bulk.choose(name)} checked={has(id)} onChange={() => toggle(id)} />,
  };
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
      sorts: { ascending: "name", descending: "-name" },
      cell: ({ id, name }) => (
        <WithThumb petId={id}>
          <Link to="/dashboard/animals/$animalId" params={{ animalId: String(id) }} preload={false}>
            {name}
          </Link>
        </WithThumb>
      ),
    },
    {
      id: "category",
      header: words.category,
      width: "16%",
      cell: ({ categoryId }) => categoryNames.get(categoryId) ?? texts.store.categories.category(categoryId),
    },
    { id: "price", header: words.price, width: "110px", isNumeric: true, cell: ({ id }) => <PriceCell petId={id} /> },
    { id: "stock", header: words.stock, width: "240px", cell: (pet) => <StockCell petId={pet.id} name={pet.name} /> },
    { id: "status", header: words.status, width: "125px", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      id: "id",
      header: words.id,
      width: "95px",
      isNumeric: true,
      isWideOnly: true,
      ...(filters.q === undefined && { sorts: { ascending: "id", descending: "-id" } }),
      cell: ({ id }) => id,
    },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: (pet) => <RowMenu of={pet.name} actions={actionsOf(pet)} />,
    },
  ];
}

function PriceCell({ petId }: { petId: number }): ReactNode {
  const price = useSummary(petId)?.price ?? null;
  return price === null ? "–" : formatPrice(price);
}

function NothingMatches(): ReactNode {
  return <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />;
}
