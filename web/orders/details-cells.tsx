import type { ReactNode } from "react";
import { formatPrice } from "../../src/platform/currencies.ts";
import { Ago } from "../parts/moment.tsx";
import { ordersTexts as words } from "../texts/en-orders.ts";
import styles from "./details-cells.module.css";
import { useDetails } from "./details.ts";

type Props = { orderId: number };

/** When an order was placed. */
export function PlacedCell({ orderId }: Props): ReactNode {
  const placedAt = useDetails(orderId)?.placedAt ?? null;
  return placedAt === null ? "–" : <Ago at={placedAt} />;
}

/** Who ordered. */
export function CustomerCell({ orderId }: Props): ReactNode {
  const customer = useDetails(orderId)?.customer ?? null;
  return customer === null ? "–" : (customer.name ?? words.noName);
}

/** What an order costs in all, and each of several units. */
export function TotalCell({ orderId, quantity }: Props & { quantity: number }): ReactNode {
  const { price = null, total = null } = useDetails(orderId) ?? {};
  if (price === null || total === null) return "–";
  return (
    <>
      {formatPrice({ ...price, amount: total })}
      {quantity > 1 && <span className={styles.each}>{words.each(formatPrice(price))}</span>}
    </>
  );
}
