import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { HistoryList, type HistoryStep } from "../parts/history-list.tsx";
import { Moment } from "../parts/moment.tsx";
import { PageHeader, Section } from "../parts/page-header.tsx";
import { ThumbLink } from "../pets/thumb.tsx";
import { ordersTexts } from "../texts/en-orders.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { Customer } from "./customer.tsx";
import { PlacedCell, TotalCell } from "./details-cells.tsx";
import { useDetails } from "./details.ts";
import { changesOf, orderHistoryQuery, refreshMs, useOrderEvents, type OrderEvent } from "./history.ts";
import { CancelDialog, FulfilDialog } from "./order-dialogs.tsx";
import { EditOrderDialog } from "./order-form.tsx";
import styles from "./order-page.module.css";
import { StateBadge, type OrderState } from "./order-state.tsx";
import { orderQuery, type Order } from "./queries.ts";
import { PrintSlip } from "./slip.tsx";

const route = getRouteApi("/dashboard/orders/$orderId");
const words = texts.store.orders;

/** `/dashboard/orders/{orderId}`: one order, with its actions and its history. */
export function OrderPage(): ReactNode {
  const orderId = Number(route.useParams().orderId);
  useOrderEvents();
  const order = useQuery({ ...orderQuery(orderId), refetchInterval: refreshMs });
  const history = useQuery({ ...orderHistoryQuery(orderId), refetchInterval: refreshMs });
  const isGone = order.error instanceof Refusal && order.error.code === "not_found";
  const last = history.data?.events.at(-1);
  const cancelled = isGone && last?.type === "order.cancelled" ? last.data : undefined;
  const shown = isGone ? cancelled : order.data?.value;
  const error = shown || (isGone && history.isPending) ? null : order.error;

  return (
    <>
      <PageHeader title={words.editTitle(orderId)} lead={<AllOrders />}>
        {shown && !cancelled && <Actions order={shown} />}
      </PageHeader>
      <ErrorPanel error={error} onRetry={() => void order.refetch()} />
      {!shown && !error && <Waiting lines={4} />}
      {shown && <Facts order={shown} state={cancelled ? "cancelled" : shown.complete ? "complete" : "open"} />}
      {shown && !cancelled && <Customer orderId={orderId} />}
      {shown && (
        <Section title={words.history}>
          <ErrorPanel error={history.data ? null : history.error} onRetry={() => void history.refetch()} />
          {history.isPending && <Waiting lines={2} />}
          {history.data && <History {...history.data} />}
        </Section>
      )}
    </>
  );
}

function AllOrders(): ReactNode {
  return (
    <Link to="/dashboard/orders" className={styles.all}>
      {words.all}
    </Link>
  );
}

function Actions({ order }: { order: Order }): ReactNode {
  const [dialog, setDialog] = useState<"fulfil" | "cancel" | "edit">();
  const close = () => setDialog(undefined);
  return (
    <>
      {!order.complete && (
        <Button variant="subtle" color="red" onClick={() => setDialog("cancel")}>
          {words.cancel}
        </Button>
      )}
      <PrintSlip order={order} />
      <Button variant="default" onClick={() => setDialog("edit")}>
        {words.edit}
      </Button>
      {!order.complete && <Button onClick={() => setDialog("fulfil")}>{words.fulfil}</Button>}
      {dialog === "edit" && <EditOrderDialog orderId={order.id} onClose={close} />}
      {dialog === "fulfil" && <FulfilDialog order={order} onClose={close} />}
      {dialog === "cancel" && <CancelDialog order={order} onClose={close} />}
    </>
  );
}

function Facts({ order: { id, petId, quantity, shipDate }, state }: { order: Order; state: OrderState }): ReactNode {
  return (
    <dl className={styles.facts}>
      <dt>{words.state}</dt>
      <dd>
        <StateBadge state={state} />
        <span className={styles.explained}>{ordersTexts.explained[state]}</span>
      </dd>
      <Reserved orderId={id} />
      <dt>{words.animal}</dt>
      <dd>{petId === undefined ? words.draft : <ThumbLink petId={petId} />}</dd>
      <dt>{words.quantity}</dt>
      <dd>{formatNumber(quantity)}</dd>
      <dt>{ordersTexts.total}</dt>
      <dd>
        <TotalCell orderId={id} quantity={quantity} />
      </dd>
      <dt>{ordersTexts.placed}</dt>
      <dd>
        <PlacedCell orderId={id} />
      </dd>
      <dt>{words.shipDate}</dt>
      <dd>{shipDate === undefined ? words.none : <Moment at={shipDate} />}</dd>
    </dl>
  );
}

/** The visitor's reservation that placed the order, and until when it holds the animal. */
function Reserved({ orderId }: { orderId: number }): ReactNode {
  const reservation = useDetails(orderId)?.reservation ?? null;
  if (reservation === null) return null;
  const { state, lapsesAt } = reservation;
  return (
    <>
      <dt>{ordersTexts.reservation}</dt>
      <dd>
        <Link to="/dashboard/reservations" search={{ state: state === "open" ? "open" : undefined }}>
          {state === "open" && lapsesAt !== null ? ordersTexts.reservedUntil : ordersTexts.reserved}
        </Link>{" "}
        {state === "open" && lapsesAt !== null && <Moment at={lapsesAt} />}
      </dd>
    </>
  );
}

function History({ events, isWhole }: { events: OrderEvent[]; isWhole: boolean }): ReactNode {
  return (
    <>
      {!isWhole && <p className={styles.quiet}>{words.historyCut}</p>}
      <HistoryList label={words.history} steps={events.toReversed().map(stepOf)} />
    </>
  );
}

function stepOf(event: OrderEvent): HistoryStep {
  const { position, type, at, actor } = event;
  return { position, at, actor, title: words.events[type], changes: type === "order.updated" ? changesOf(event) : [] };
}
