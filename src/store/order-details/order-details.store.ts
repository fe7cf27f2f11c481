import sql, { join, raw } from "sql-template-tag";
import { hourMs } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { mergeRows, stepsBack } from "../../platform/db/index-walk.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import type { ReservationState } from "../reservations/reservations.ts";
import { othersMax, totalOf, type OrderDetails } from "./order-details.ts";

type DetailsRow = {
  id: number;
  quantity: number;
  placed_at: number | null;
  price_amount: number | null;
  price_currency: string | null;
  has_contact: number | null;
  name: string | null;
  reservation_id: number | null;
  state: string;
  lapses_at: number | null;
};

/** Reads the details of these orders, by id. Leaves out ids without an order. */
export async function readDetails(db: Database, accountId: number, ids: readonly number[]): Promise<OrderDetails[]> {
  const rows = await db.query<DetailsRow>(sql`
    SELECT orders.id, orders.quantity, orders.placed_at, orders.price_amount, orders.price_currency, contacts.order_id AS has_contact, contacts.name,
      reservations.id AS reservation_id, reservations.state, reservations.lapses_at
    FROM orders LEFT JOIN contacts ON contacts.account_id = orders.account_id AND contacts.order_id = orders.id
    LEFT JOIN reservations ON reservations.account_id = orders.account_id AND reservations.order_id = orders.id
    WHERE orders.account_id = ${accountId} AND orders.id IN (${join([...ids])}) ORDER BY orders.id`);
  return rows.map(fromRow);
}

function fromRow(row: DetailsRow): OrderDetails {
  const { id, quantity, placed_at: placedAt, price_amount: amount, price_currency: currency, has_contact, name } = row;
  const { reservation_id: reservationId, state, lapses_at: lapsesAt } = row;
  const price = amount === null || currency === null ? null : { amount, currency };
  return {
    id,
    placedAt: placedAt === null ? null : formatDateTime(placedAt),
    price,
    total: totalOf(price, quantity),
    customer: has_contact === null ? null : { name },
    reservation:
      reservationId === null
        ? null
        : { id: reservationId, state: state as ReservationState, lapsesAt: lapsesAt === null ? null : formatDateTime(lapsesAt) },
  };
}

type Keys = { email_key: string | null; phone_key: string | null };

/** Returns the ids of the newest other orders whose contact has the email or the telephone number of this order's, up to one more than are shown. */
export async function otherOrders(db: Database, accountId: number, orderId: number): Promise<number[]> {
  const [keys] = await db.query<Keys>(
    sql`SELECT email_key, phone_key FROM contacts WHERE account_id = ${accountId} AND order_id = ${orderId}`,
  );
  const walk = { table: "contacts", columns: raw("order_id"), accountId, order: ["order_id"], isBackwards: true };
  const walks = (["email", "phone"] as const).flatMap((by) => {
    const key = keys?.[`${by}_key`];
    const found = { index: `contacts_by_${by}`, condition: `${by}_key IS NOT NULL`, equal: { [`${by}_key`]: key ?? "" } };
    return key === null || key === undefined ? [] : [{ ...walk, ...found }];
  });
  if (walks.length === 0) return [];
  // Both walks may find an order, and each finds this one.
  const rows = await db.query<{ order_id: number }>(mergeRows(db.engine, walks, 2 * (othersMax + 2)));
  return [...new Set(rows.map((row) => row.order_id))].filter((id) => id !== orderId).slice(0, othersMax + 1);
}

type ValueRow = [id: number, placedAt: number | null, quantity: number, amount: number | null, currency: string | null];

/** The orders whose value is added up, at once and in all, and the currencies that are shown. */
const stepMax = 1_000;
const valuedMax = 20_000;
const currenciesMax = 10;
/** An order has the time of its request, so ids and times may be out of order by up to this (ms). */
const timesApartMs = hourMs;

/** What orders placed in two periods are worth in one currency, in minor units. */
type OrdersValue = { currency: string; now: number; before: number };

/**
 * Adds up the orders placed since two times (ms), from the newest back, by the price that each has kept. Orders without a price, and those of before
 * prices were kept, count nothing. `isWhole` is false if there were more orders or currencies than are counted.
 */
export async function valuesOfOrders(
  db: Database,
  accountId: number,
  { last, before }: { last: number; before: number },
): Promise<{ values: OrdersValue[]; isWhole: boolean }> {
  const sums = new Map<string, { orders: number; now: bigint; before: bigint }>();
  const columns = raw("id, placed_at, quantity, price_amount, price_currency");
  let [read, isWhole] = [0, true];
  for await (const rows of stepsBack<ValueRow>(db, { table: "orders", columns, accountId, order: ["id"] }, stepMax)) {
    for (const [, placedAt, quantity, amount, currency] of rows) {
      if (placedAt === null || placedAt <= before || amount === null || currency === null) continue;
      const sum = sums.get(currency) ?? { orders: 0, now: 0n, before: 0n };
      sum.orders += 1;
      sum[placedAt > last ? "now" : "before"] += BigInt(amount) * BigInt(quantity);
      sums.set(currency, sum);
    }
    read += rows.length;
    if ((rows.at(-1)?.[1] ?? Infinity) <= before - timesApartMs) break;
    isWhole = read < valuedMax;
    if (!isWhole) break;
  }
  const sorted = [...sums].toSorted(([, a], [, b]) => b.orders - a.orders);
  const shown = (sum: bigint): number => Number(sum > maxShown ? maxShown : sum);
  return {
    values: sorted
      .slice(0, currenciesMax)
      .map(([currency, { now, before: earlier }]) => ({ currency, now: shown(now), before: shown(earlier) })),
    isWhole: isWhole && sorted.length <= currenciesMax,
  };
}

const maxShown = BigInt(Number.MAX_SAFE_INTEGER);
