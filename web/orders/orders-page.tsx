import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import type { Row } from "../../client/pages.ts";
import { concatenated, useList, type List, type PagedRows } from "../calls/lists.ts";
import { Waiting } from "../frame/waiting.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Filters } from "../parts/filters.tsx";
import { Moment } from "../parts/moment.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { soughtNumber } from "../parts/search-values.ts";
import { PetPicker } from "../pets/pet-picker.tsx";
import { petQuery, type Pet } from "../pets/queries.ts";
import { ThumbLink, WithThumb } from "../pets/thumb.tsx";
import { ordersTexts } from "../texts/en-orders.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { SavedViews } from "../views/saved-views.tsx";
import { CustomerCell, PlacedCell, TotalCell } from "./details-cells.tsx";
import { refreshMs, useOrderEvents } from "./history.ts";
import { CancelDialog, FulfilDialog } from "./order-dialogs.tsx";
import { EditOrderDialog, PlaceOrderDialog } from "./order-form.tsx";
import { StateBadge } from "./order-state.tsx";
import styles from "./orders-page.module.css";
import type { Order } from "./queries.ts";
import { filtersOf, orderSearch, type OrderFilters } from "./search.ts";

const route = getRouteApi("/dashboard/orders");
const words = texts.store.orders;
type State = "all" | "open" | "complete";
type OpenDialog = { kind: "fulfil" | "cancel" | "edit"; order: Order };

/** `/dashboard/orders`: the orders with their filters. */
export function OrdersPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = filtersOf(search);
  useOrderEvents();
  const list = useOrders(filters);
  // the service always sends an order's id, quantity and state
  const orders = list.rows as PagedRows<Order> | undefined;
  const [dialog, setDialog] = useState<OpenDialog>();
  const go = (to: Record<string, unknown>) => void navigate({ search: orderSearch(to), resetScroll: false });
  const isFiltered = filters.petId !== undefined || filters.complete !== undefined;
  const isEmpty = orders?.count === 0;
  const close = () => setDialog(undefined);
  const open = (id: number) => void navigate({ to: "/dashboard/orders/$orderId", params: { orderId: String(id) } });

  return (
    <>
      <PageHeader title={words.page} lead={words.lead}>
        <Button onClick={() => go({ ...filters, new: true })}>{words.new}</Button>
      </PageHeader>
      {(isFiltered || !isEmpty) && (
        <Filters views={<SavedViews list="orders" shown={filters} onOpen={go} />} onClear={isFiltered ? () => go({}) : undefined}>
          <StateFilter value={filters.complete} onChange={(complete) => go({ ...filters, complete })} />
          <PetFilter petId={filters.petId} onChange={(petId) => go({ ...filters, petId })} />
          <NumberSearch onOpen={open} />
        </Filters>
      )}
      {list.isPending && <Waiting lines={6} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {isEmpty && isFiltered && <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />}
      {isEmpty && !isFiltered && <EmptyState title={words.emptyTitle} text={words.emptyText} />}
      {orders && !isEmpty && (
        <RowsTable
          key={JSON.stringify(filters)}
          label={words.table}
          columns={columnsOf(setDialog)}
          rows={orders}
          keyOf={({ id }) => id}
          isCompact
          sorting={{ sort: filters.sort ?? "-id", onSort: (sort) => go({ ...filters, sort }) }}
          onOpen={({ id }) => open(id)}
        />
      )}
      {(search.new ?? search.order) && <PlaceOrderDialog key={search.order} petId={search.order} onClose={() => go(filters)} />}
      {dialog?.kind === "edit" && <EditOrderDialog orderId={dialog.order.id} onClose={close} />}
      {dialog?.kind === "fulfil" && <FulfilDialog order={dialog.order} onClose={close} />}
      {dialog?.kind === "cancel" && <CancelDialog order={dialog.order} onClose={close} />}
    </>
  );
}

/** Lists open orders before fulfilled ones, newest first unless a header was clicked. The visible orders are reread regularly. */
function useOrders(filters: OrderFilters): List<Order | Row<"/store/orders">> {
  const of = (complete: boolean) => ({ sort: "-id" as const, ...filters, complete });
  const open = useList("/store/orders", of(filters.complete ?? false), { everyMs: refreshMs });
  const isBoth = filters.complete === undefined;
  const complete = useList("/store/orders", of(true), { everyMs: refreshMs, isNeeded: isBoth });
  return isBoth ? concatenated(open, complete) : open;
}

/** Opens an order by its number. */
function NumberSearch({ onOpen }: { onOpen: (id: number) => void }): ReactNode {
  const [text, setText] = useState("");
  const [isWrong, setWrong] = useState(false);
  return (
    <search className={styles.number}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const id = soughtNumber(text, "order");
          setWrong(id === undefined && text.trim() !== "");
          if (id !== undefined) onOpen(id);
        }}
      >
        <TextInput
          label={words.number}
          inputMode="numeric"
          value={text}
          error={isWrong && <span role="alert">{ordersTexts.wrongNumber}</span>}
          onChange={({ target }) => {
            setText(target.value);
            setWrong(false);
          }}
        />
      </form>
    </search>
  );
}

function PetFilter({ petId, onChange }: { petId: number | undefined; onChange: (petId: number | undefined) => void }): ReactNode {
  const { data } = useQuery({ ...petQuery(petId ?? 0), enabled: petId !== undefined });
  const unknown: Pet = { id: petId ?? 0, name: texts.store.animals.animal(petId ?? 0), categoryId: 0, status: "available" };
  const chosen = petId === undefined ? null : (data?.value ?? unknown);
  return <PetPicker label={words.filterAnimal} value={chosen} onChange={(pet) => onChange(pet?.id)} clearable />;
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

function columnsOf(ask: (dialog: OpenDialog) => void): Column<Order>[] {
  const actionsOf = (order: Order): RowAction[] => [
    ...(order.complete ? [] : [{ label: words.fulfil, run: () => ask({ kind: "fulfil", order }) }]),
    { label: words.edit, run: () => ask({ kind: "edit", order }) },
    ...(order.complete ? [] : [{ label: words.cancel, run: () => ask({ kind: "cancel", order }), isDangerous: true }]),
  ];
  return [
    {
      id: "id",
      header: words.id,
      width: "80px",
      sorts: { ascending: "id", descending: "-id" },
      cell: ({ id }) => (
        <Link to="/dashboard/orders/$orderId" params={{ orderId: String(id) }}>
          {id}
        </Link>
      ),
    },
    { id: "placed", header: ordersTexts.placed, width: "125px", cell: ({ id }) => <PlacedCell orderId={id} /> },
    { id: "customer", header: ordersTexts.customer, width: "17%", cell: ({ id }) => <CustomerCell orderId={id} /> },
    {
      id: "animal",
      header: words.animal,
      cell: ({ petId }) => (petId === undefined ? <WithThumb petId={petId}>{words.draft}</WithThumb> : <ThumbLink petId={petId} />),
    },
    { id: "quantity", header: words.quantity, width: "90px", isNumeric: true, cell: ({ quantity }) => formatNumber(quantity) },
    {
      id: "total",
      header: ordersTexts.total,
      width: "120px",
      isNumeric: true,
      cell: ({ id, quantity }) => <TotalCell orderId={id} quantity={quantity} />,
    },
    {
      id: "shipDate",
      header: words.shipDate,
      width: "150px",
      isWideOnly: true,
      cell: ({ shipDate }) => (shipDate === undefined ? "–" : <Moment at={shipDate} />),
    },
    {
      id: "state",
      header: words.state,
      width: "110px",
      cell: ({ complete }) => <StateBadge state={complete ? "complete" : "open"} />,
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
