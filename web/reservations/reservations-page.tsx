import { Button, Group, NativeSelect } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useList } from "../calls/lists.ts";
import { Waiting } from "../frame/waiting.tsx";
import { Badge, type Tone } from "../parts/badge.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Filters } from "../parts/filters.tsx";
import { Ago, Moment } from "../parts/moment.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { ThumbLink } from "../pets/thumb.tsx";
import { reservationsTexts as words } from "../texts/en-reservations.ts";
import { texts } from "../texts/texts.ts";
import { ContactCell } from "./contact-cell.tsx";
import { useContact, type Reservation } from "./queries.ts";
import { ReservationDialog, type Asked } from "./reservation-dialogs.tsx";
import styles from "./reservations.module.css";
import { reservationSearch, states, type State } from "./search.ts";

const route = getRouteApi("/dashboard/reservations");
const refreshMs = 10_000;
const tones: Partial<Record<Reservation["state"], Tone>> = { open: "busy", accepted: "good" };

/** `/dashboard/reservations`: what visitors of the shop reserved or asked about, the newest first. */
export function ReservationsPage(): ReactNode {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const filters = { sort: "-id" as const, ...(state !== undefined && { state }) };
  const list = useList("/reservations", filters, { everyMs: refreshMs });
  const [open, setOpen] = useState<{ asked: Asked; reservation: Reservation }>();
  const go = (to: Record<string, unknown>): void => void navigate({ search: reservationSearch(to), resetScroll: false });
  const isEmpty = list.rows?.count === 0;

  return (
    <>
      <PageHeader title={texts.store.reservations.page} lead={words.lead} />
      {(state !== undefined || !isEmpty) && (
        <Filters onClear={state === undefined ? undefined : () => go({})}>
          <StateFilter value={state} onChange={(chosen) => go({ state: chosen })} />
        </Filters>
      )}
      {list.isPending && <Waiting lines={6} />}
      {!list.rows && <ErrorPanel error={list.error} onRetry={() => list.refetch()} />}
      {isEmpty && state !== undefined && <EmptyState title={texts.store.nothingMatches} text={texts.store.nothingMatchesText} />}
      {isEmpty && state === undefined && <EmptyState title={words.emptyTitle} text={words.emptyText} />}
      {list.rows && !isEmpty && (
        <RowsTable
          key={state}
          label={words.table}
          columns={columnsOf((asked, reservation) => setOpen({ asked, reservation }))}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      {open && <ReservationDialog {...open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function StateFilter({ value, onChange }: { value: State | undefined; onChange: (state: string) => void }): ReactNode {
  const choices = (["all", ...states] as const).map((choice) => ({ value: choice, label: words.states[choice] }));
  return (
    <NativeSelect
      label={words.filterState}
      data={choices}
      value={value ?? "all"}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

type Ask = (asked: Asked, reservation: Reservation) => void;

function columnsOf(ask: Ask): Column<Reservation>[] {
  return [
    { id: "id", header: words.id, width: "90px", isNumeric: true, isWideOnly: true, cell: ({ id }) => id },
    { id: "animal", header: words.animal, cell: ({ petId }) => <ThumbLink petId={petId} /> },
    { id: "kind", header: words.kind, width: "120px", cell: (reservation) => <Kind of={reservation} /> },
    { id: "contact", header: words.contact, width: "200px", cell: ({ id }) => <ContactCell id={id} /> },
    { id: "when", header: words.when, width: "180px", cell: (reservation) => <Times of={reservation} /> },
    { id: "state", header: words.state, width: "140px", cell: ({ state }) => <StateBadge state={state} /> },
    {
      id: "actions",
      header: texts.dashboard.actions,
      width: "140px",
      isActions: true,
      cell: (reservation) => <Actions of={reservation} ask={ask} />,
    },
  ];
}

/** When it arrived, and when it expires or ended. */
function Times({ of: { createdAt, lapsesAt, endedAt } }: { of: Reservation }): ReactNode {
  const end = endedAt ?? lapsesAt;
  return (
    <span className={styles.times}>
      <span>
        {words.arrived} <Ago at={createdAt} />
      </span>
      {end !== undefined && (
        <span>
          {endedAt === undefined ? words.lapses : words.ended} <Moment at={end} />
        </span>
      )}
    </span>
  );
}

/** An order has its own contact, and its page deletes that. */
function Actions({ of: reservation, ask }: { of: Reservation; ask: Ask }): ReactNode {
  const { id, state, orderId, endedAt } = reservation;
  const contact = useContact(id);
  const isOpen = state === "open";
  const possible: Partial<Record<Asked, boolean>> = {
    change: isOpen,
    refuse: isOpen || (state === "accepted" && endedAt === undefined),
    deleteContact: orderId === undefined && Boolean(contact),
  };
  const actions = (["change", "refuse", "deleteContact"] as const)
    .filter((asked) => possible[asked])
    .map((asked): RowAction => ({ label: words[asked], run: () => ask(asked, reservation), isDangerous: asked !== "change" }));
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {isOpen && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`${words.accept}: ${words.title(id)}`}
          onClick={() => ask("accept", reservation)}
        >
          {words.accept}
        </Button>
      )}
      {actions.length > 0 && <RowMenu of={words.title(id)} actions={actions} />}
    </Group>
  );
}

/** A reservation leads to its order while that may be open. */
function Kind({ of: { orderId, state } }: { of: Reservation }): ReactNode {
  if (orderId === undefined) return words.kinds.enquiry;
  if (state !== "open" && state !== "accepted") return words.kinds.reservation;
  return (
    <Link to="/dashboard/orders/$orderId" params={{ orderId: String(orderId) }}>
      {words.toOrder(orderId)}
    </Link>
  );
}

function StateBadge({ state }: { state: Reservation["state"] }): ReactNode {
  const known = states.find((one) => one === state);
  return <Badge tone={tones[state] ?? "quiet"}>{known === undefined ? state : words.states[known]}</Badge>;
}
