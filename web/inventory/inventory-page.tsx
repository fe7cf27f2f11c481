import { Button, Select, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useList, type PagedRows } from "../calls/lists.ts";
import { numberIn } from "../calls/send.ts";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Filters } from "../parts/filters.tsx";
import { notify } from "../parts/notices.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { present } from "../parts/search-values.ts";
import { PetPicker, chosen } from "../pets/pet-picker.tsx";
import { usePetName, type Pet } from "../pets/queries.ts";
import { petStatuses, type PetStatus } from "../pets/search.ts";
import { StatusBadge } from "../pets/status-badge.tsx";
import { ThumbLink } from "../pets/thumb.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { LowStockMark } from "./low-stock.tsx";
import { lowStockQuery, cacheNewStock, setStock, type InventoryItem } from "./queries.ts";
import type { InventorySearch } from "./search.ts";
import { StockCount, StockMarkBadge } from "./stock-count.tsx";
import { StopTrackingDialog } from "./stop-tracking-dialog.tsx";

const route = getRouteApi("/dashboard/inventory");
const words = texts.store.inventory;
/** The most rows in the list of low stock. */
const lowShownMax = 1_000;
const markChoices = [{ value: "low" as const, label: words.lowOnly }];
const statusChoices = petStatuses.map((value) => ({ value, label: texts.store.status[value] }));

/** `/dashboard/inventory` */
export function InventoryPage(): ReactNode {
  const { new: isNew, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const [stopping, setStopping] = useState<{ petId: number; name: string }>();
  const begin = (on: boolean) => void navigate({ search: { ...present(filter), ...(on && { new: true as const }) }, resetScroll: false });
  return (
    <>
      <PageHeader title={words.page} lead={words.lead}>
        <Button onClick={() => begin(true)}>{words.new}</Button>
      </PageHeader>
      <LowStockMark />
      {filter.stock ? <LowEntries askToStop={setStopping} /> : <Entries status={filter.status} askToStop={setStopping} />}
      {isNew && <TrackDialog onClose={() => begin(false)} />}
      {stopping && <StopTrackingDialog {...stopping} onClose={() => setStopping(undefined)} />}
    </>
  );
}

type AskToStop = (pet: { petId: number; name: string }) => void;

function Entries({ status, askToStop }: { status: PetStatus | undefined; askToStop: AskToStop }): ReactNode {
  const list = useList("/store/inventory", status === undefined ? {} : { status: [status] });
  const isEmpty = list.rows?.count === 0;
  return (
    <>
      {(status !== undefined || (list.rows && !isEmpty)) && <StockFilters status={status} />}
      {list.isPending && <Waiting lines={6} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {isEmpty && status === undefined && <EmptyState title={words.emptyTitle} text={words.emptyText} />}
      {isEmpty && status !== undefined && <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />}
      {list.rows && !isEmpty && <EntriesTable rows={list.rows} askToStop={askToStop} />}
    </>
  );
}

/** The entries with low stock, fewest units first. */
function LowEntries({ askToStop }: { askToStop: AskToStop }): ReactNode {
  const { data: low, isPending, error, refetch } = useQuery(lowStockQuery(lowShownMax));
  return (
    <>
      <StockFilters stock="low" />
      {isPending && <Waiting lines={6} />}
      {!low && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {low?.entries.length === 0 && <EmptyState title={words.enoughTitle} text={words.enoughText} />}
      {low && low.entries.length > 0 && <EntriesTable rows={low.entries} askToStop={askToStop} />}
      {low && low.count > low.entries.length && <p>{words.moreLow(formatNumber(low.entries.length), formatNumber(low.count))}</p>}
    </>
  );
}

function StockFilters({ status, stock }: { status?: PetStatus | undefined; stock?: "low" }): ReactNode {
  const navigate = route.useNavigate();
  const filter = (search: InventorySearch) => void navigate({ search, resetScroll: false });
  return (
    <Filters onClear={(status ?? stock) && (() => filter({}))}>
      <Select
        label={words.status}
        placeholder={texts.store.anyStatus}
        data={statusChoices}
        value={status ?? null}
        onChange={(value) => filter(value === null ? {} : { status: value })}
        clearable
      />
      <Select
        label={words.mark}
        placeholder={words.anyMark}
        data={markChoices}
        value={stock ?? null}
        onChange={(value) => filter(value === null ? {} : { stock: value })}
        clearable
      />
    </Filters>
  );
}

type TableProps = { rows: PagedRows<InventoryItem> | readonly InventoryItem[]; askToStop: AskToStop };

function EntriesTable({ rows, askToStop }: TableProps): ReactNode {
  return <RowsTable label={words.table} columns={columnsOf(askToStop)} rows={rows} keyOf={({ petId }) => petId} isCompact />;
}

function columnsOf(askToStop: AskToStop): Column<InventoryItem>[] {
  return [
    { id: "animal", header: words.animal, cell: ({ petId }) => <ThumbLink petId={petId} /> },
    { id: "units", header: words.units, width: "250px", cell: (item) => <Units item={item} /> },
    { id: "mark", header: words.mark, width: "130px", cell: (item) => <StockMarkBadge item={item} /> },
    { id: "status", header: words.status, width: "130px", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "64px",
      isActions: true,
      cell: ({ petId }) => <ItemMenu petId={petId} askToStop={askToStop} />,
    },
  ];
}

function Units({ item }: { item: InventoryItem }): ReactNode {
  return (
    <div>
      <StockCount item={item} name={usePetName(item.petId)} />
    </div>
  );
}

function ItemMenu({ petId, askToStop }: { petId: number; askToStop: AskToStop }): ReactNode {
  const name = usePetName(petId);
  return <RowMenu of={name} actions={[{ label: words.stop, run: () => askToStop({ petId, name }), isDangerous: true }]} />;
}

function TrackDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useCallForm({
    initial: { pet: null as Pet | null, quantity: "1" },
    send: ({ pet, quantity }) => setStock(chosen(pet).id, numberIn(quantity)),
    onDone: (item, { pet }) => {
      notify(words.began(pet?.name ?? ""));
      cacheNewStock(client, item);
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={words.new} onClose={onClose}>
      <CallForm form={form} submit={words.begin} onCancel={onClose}>
        <PetPicker {...form.choice("pet")} />
        <TextInput mt="sm" label={words.firstCount} inputMode="numeric" w={140} {...form.text("quantity")} />
      </CallForm>
    </Dialog>
  );
}
