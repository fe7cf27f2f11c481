import type { UsageServices } from "../callers/usage/usage.routes.ts";
import { countEvents } from "../events/log/events.store.ts";
import { dayMs } from "../platform/clock.ts";
import { operation, type Operation } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import { dayOf } from "../publishing/storefront/page-view-counter.ts";
import { valuesOfOrders } from "../store/order-details/order-details.store.ts";

/** The days of one figure, which is compared with as many days before. */
const days = 7;

const counts = { now: Type.Integer({ format: "int64" }), before: Type.Integer({ format: "int64" }) };
const Figure = Type.Object(counts, { description: "How many in the last 7 days, and in the 7 days before." });

const Figures = Type.Object({
  placed: Figure,
  fulfilled: Figure,
  reservations: Type.Object({ ...counts, lastDay: Type.Integer({ format: "int64", description: "Those of the last 24 hours." }) }),
  views: Figure,
  values: Type.Array(Type.Object({ currency: Type.String(), ...counts }), {
    description: "The value of the placed orders that were not cancelled, in minor units, for each currency.",
  }),
  isWhole: Type.Boolean({ description: "False if there was more than is counted, so that the figures are too low." }),
});

/** The figures of a shop's week, for the first page of the dashboard. They come from parts that do not know each other. */
export const figureRoutes: Operation<UsageServices>[] = [
  operation({
    operationId: "getFigures",
    method: "GET",
    path: "/figures",
    tag: "Orders",
    summary: "Get the figures of the week",
    description: "Orders, their value, reservations and page views in the last 7 days, and in the 7 days before.",
    scope: "orders:read",
    answers: { 200: { description: "The figures.", schema: Figures } },
    read: async (db, { accountId, now, services }) => {
      await services.flushUsage();
      const { readPageViews } = await import("../publishing/storefront/page-views.store.ts");
      const periods = { last: now - days * dayMs, before: now - 2 * days * dayMs };
      const count = (type: Parameters<typeof countEvents>[2], lastDay?: number) =>
        countEvents(db, accountId, type, { ...periods, lastDay });
      const [placed, fulfilled] = [await count("order.created"), await count("order.completed")];
      const reservations = await count("reservation.created", now - dayMs);
      const { values, isWhole } = await valuesOfOrders(db, accountId, periods);
      const views = viewsIn(await readPageViews(db, accountId, dayOf(now) - 2 * days), now);
      const figureOf = ({ now: last, before }: { now: number; before: number }) => ({ now: last, before });
      return {
        status: 200,
        body: {
          placed: figureOf(placed),
          fulfilled: figureOf(fulfilled),
          reservations: { ...figureOf(reservations), lastDay: reservations.lastDay },
          views,
          values,
          isWhole: isWhole && [placed, fulfilled, reservations].every((one) => one.isWhole),
        },
      };
    },
  }),
];

/**
 * Page views are counted by day, so a period that begins within a day takes a part of that day's views: otherwise the part of today that is over
 * would be compared with a whole day.
 */
function viewsIn(byDay: ReadonlyMap<number, number>, now: number): { now: number; before: number } {
  const today = dayOf(now);
  const past = now / dayMs - today;
  const on = (ago: number): number => byDay.get(today - ago) ?? 0;
  const sum = (from: number, to: number): number => {
    let views = 0;
    for (let ago = from; ago < to; ago++) views += on(ago);
    return views;
  };
  const [first, second] = [on(days), on(2 * days)];
  return {
    now: Math.round(sum(0, days) + (1 - past) * first),
    before: Math.round(past * first + sum(days + 1, 2 * days) + (1 - past) * second),
  };
}
