import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { createPortal } from "react-dom";
import { formatPrice } from "../../src/platform/currencies.ts";
import { useSession } from "../dashboard/session.ts";
import { Moment } from "../parts/moment.tsx";
import { usePetName } from "../pets/queries.ts";
import { ordersTexts as words } from "../texts/en-orders.ts";
import { formatNumber, texts } from "../texts/texts.ts";
import { contactQuery, othersQuery, useDetails } from "./details.ts";
import type { Order } from "./queries.ts";
import styles from "./slip.module.css";

const columns = [texts.store.orders.id, texts.store.orders.animal, texts.store.orders.quantity, words.price, words.total];

/** A button that prints the slip of an order: on paper it takes the place of the page. */
export function PrintSlip({ order }: { order: Order }): ReactNode {
  return (
    <>
      <Button variant="default" onClick={() => globalThis.print()}>
        {words.slip}
      </Button>
      {createPortal(<Slip order={order} />, document.body)}
    </>
  );
}

function Slip({ order }: { order: Order }): ReactNode {
  const { account } = useSession();
  const { placedAt = null } = useDetails(order.id) ?? {};
  const contact = useQuery(contactQuery(order.id)).data?.value;
  const others = useQuery({ ...othersQuery(order.id), enabled: contact !== undefined }).data?.orders ?? [];
  const open = others.filter(({ complete }) => !complete);
  return (
    <section className={styles.slip} aria-hidden="true">
      <p>{account.name}</p>
      <h1>{words.slipTitle(order.id)}</h1>
      {placedAt !== null && (
        <p>
          {words.placed}: <Moment at={placedAt} />
        </p>
      )}
      {contact && (
        <p className={styles.address}>{[contact.name, contact.address, contact.phone, contact.email].filter(Boolean).join("\n")}</p>
      )}
      <Lines orders={[order]} />
      {open.length > 0 && (
        <>
          <h2>{words.slipOthers}</h2>
          <Lines orders={open} />
        </>
      )}
      <p className={styles.signature}>{words.signature}</p>
    </section>
  );
}

function Lines({ orders }: { orders: readonly Order[] }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column}>{column}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {orders.map((order) => (
          <Line key={order.id} order={order} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ order: { id, petId, quantity } }: { order: Order }): ReactNode {
  const { price = null, total = null } = useDetails(id) ?? {};
  return (
    <tr>
      <td>{id}</td>
      <td>{petId === undefined ? texts.store.orders.draft : <PetName petId={petId} />}</td>
      <td>{formatNumber(quantity)}</td>
      <td>{price === null ? "–" : formatPrice(price)}</td>
      <td>{price === null || total === null ? "–" : formatPrice({ ...price, amount: total })}</td>
    </tr>
  );
}

function PetName({ petId }: { petId: number }): ReactNode {
  return usePetName(petId);
}
