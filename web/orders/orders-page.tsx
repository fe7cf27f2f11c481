import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { AnimalLink } from "../pets/pet-link.tsx";
import { AnimalPicker } from "../pets/pet-picker.tsx";
import { animalQuery, type Pet } from "../pets/queries.ts";
import { useList, type PagedRows } from "../calls/lists.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Filters } from "../parts/filters.tsx";
import { Moment } from "../parts/moment.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { CancelDialog, FulfilDialog } from "./order-dialogs.tsx";
import { EditOrderDialog, PlaceOrderDialog } from "./order-form.tsx";
import styles from "./orders-page.module.css";
import type { Order } from "./queries.ts";
import { filtersOf, orderSearch } from "./search.ts";

const route = getRouteApi("/dashboard/orders");
const words = texts.store.orders;
type State = keyof typeof words.states;
type Asked = { kind: "fulfil" | "cancel" | "edit"; order: Order };

/** `/dashboard/orders`: the orders with their filters. */
export function OrdersPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = filtersOf(search);
  const list = useList("/store/orders", filters);
  // the service always sends an order's id, quantity and state
  const orders = list.rows as PagedRows<Order> | undefined;
  const [asked, setAsked] = useState<Asked>();
  const go = (to: Record<string, unknown>) => void navigate({ search: orderSearch(to), resetScroll: false });
  const isFiltered = filters.petId !== undefined || filters.complete !== undefined;
  const isEmpty = orders?.count === 0;
  const close = () => setAsked(undefined);

  return (
    <>
      <PageHeader title={words.page} lead={words.lead}>
        <Button onClick={() => go({ ...filters, new: true })}>{words.new}</Button>
      </PageHeader>
      {(isFiltered || !isEmpty) && (
        <Filters onClear={isFiltered ? () => go({}) : undefined}>
          <StateFilter value={filters.complete} onChange={(complete) => go({ ...filters, complete })} />
          <AnimalFilter petId={filters.petId} onChange={(petId) => go({ ...filters, petId })} />
        </Filters>
      )}
      {list.isPending && <Waiting lines={6} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {isEmpty && isFiltered && <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />}
      {isEmpty && !isFiltered && (
        <EmptyState title={words.emptyTitle} text={words.emptyText}>
          <Button onClick={() => go({ new: true })}>{words.new}</Button>
        </EmptyState>
      )}
      {orders && !isEmpty && (
        <RowsTable key={JSON.stringify(filters)} label={words.table} columns={columnsOf(setAsked)} rows={orders} keyOf={({ id }) => id} />
      )}
      {(search.new ?? search.order) && <PlaceOrderDialog key={search.order} petId={search.order} onClose={() => go(filters)} />}
      {asked?.kind === "edit" && <EditOrderDialog orderId={asked.order.id} onClose={close} />}
      {asked?.kind === "fulfil" && <FulfilDialog order={asked.order} onClose={close} />}
      {asked?.kind === "cancel" && <CancelDialog order={asked.order} onClose={close} />}
    </>
  );
}

function AnimalFilter({ petId, onChange }: { petId: number | undefined; onChange: (petId: number | undefined) => void }): ReactNode {
  const { data } = useQuery({ ...animalQuery(petId ?? 0), enabled: petId !== undefined });
  const unknown: Pet = { id: petId ?? 0, name: texts.store.animals.animal(petId ?? 0), categoryId: 0, status: "available" };
  const chosen = petId === undefined ? null : (data?.value ?? unknown);
  return <AnimalPicker label={words.filterAnimal} value={chosen} onChange={(pet) => onChange(pet?.id)} clearable />;
}

function StateFilter({ value, onChange }: { value: boolean | undefined; onChange: (complete: boolean | undefined) => void }): ReactNode {
  const state: State = value === undefined ? "all" : value ? "complete" : "open";
  const choices = (["all", "open", "complete"] as const).map((choice) => ({ value: choice, label: words.states[choice] }));
  return (
    <fieldset className={styles.states}>
      <legend className={styles.legend}>{words.filterState}</legend>
      <SegmentedControl
        data={choices}
        value={state}
        onChange={(choice) => onChange(choice === "all" ? undefined : choice === "complete")}
      />
    </fieldset>
  );
}

function columnsOf(ask: (asked: Asked) => void): Column<Order>[] {
  const actionsOf = (order: Order): RowAction[] => [
    ...(order.complete ? [] : [{ label: words.fulfil, run: () => ask({ kind: "fulfil", order }) }]),
    { label: words.edit, run: () => ask({ kind: "edit", order }) },
    ...(order.complete ? [] : [{ label: words.cancel, run: () => ask({ kind: "cancel", order }), isDangerous: true }]),
  ];
  return [
    { id: "id", header: words.id, width: "100px", cell: ({ id }) => id },
    { id: "animal", header: words.animal, cell: ({ petId }) => (petId === undefined ? words.draft : <AnimalLink petId={petId} />) },
    { id: "quantity", header: words.quantity, width: "110px", isNumeric: true, cell: ({ quantity }) => formatNumber(quantity) },
    {
      id: "shipDate",
      header: words.shipDate,
      width: "200px",
      cell: ({ shipDate }) => (shipDate === undefined ? "–" : <Moment at={shipDate} />),
    },
    {
      id: "state",
      header: words.state,
      width: "130px",
      cell: ({ complete }) => (
        <span className={styles.state} data-complete={complete}>
          {complete ? words.states.complete : words.states.open}
        </span>
      ),
    },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: (order) => <RowMenu of={words.editTitle(order.id)} actions={actionsOf(order)} />,
    },
  ];
}
