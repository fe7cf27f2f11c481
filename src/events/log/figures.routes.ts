import { raw } from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { walkStatement } from "../../platform/db/index-walk.ts";
import type { EventType } from "../../platform/event-types.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { Type } from "../../platform/json-schema.ts";

/** The days of one figure, which is compared with as many days before. */
const days = 7;
/** The most events of one read, and of one figure: a shop with more orders in two weeks gets the figures of the newest. */
const stepMax = 1_000;
const eventsMax = 20_000;

const Figure = Type.Object(
  { now: Type.Integer(), before: Type.Integer() },
  { description: "How many in the last 7 days, and in the 7 days before." },
);

const Figures = Type.Object({
  placed: Figure,
  fulfilled: Figure,
  isWhole: Type.Boolean({ description: "False if there were more events than are counted, so that the figures are too low." }),
});

/** The figures of a shop's week, for the first page of the dashboard. */
export const figureRoutes: Operation[] = [
  operation({
    operationId: "getFigures",
    method: "GET",
    path: "/figures",
    tag: "Orders",
    summary: "Get the figures of the week",
    description: "How many orders were placed and fulfilled in the last 7 days, and in the 7 days before.",
    scope: "orders:read",
    answers: { 200: { description: "The figures.", schema: Figures } },
    read: async (db, { accountId, now }) => {
      const [placed, fulfilled] = [
        await countEvents(db, accountId, "order.created", now),
        await countEvents(db, accountId, "order.completed", now),
      ];
      const figureOf = ({ now: last, before }: Count) => ({ now: last, before });
      return {
        status: 200,
        body: { placed: figureOf(placed), fulfilled: figureOf(fulfilled), isWhole: placed.isWhole && fulfilled.isWhole },
      };
    },
  }),
];

type Count = { now: number; before: number; isWhole: boolean };

/** Counts the events of a type in the last days and in those before, from the newest back. */
async function countEvents(db: Database, accountId: number, type: EventType, now: number): Promise<Count> {
  const count: Count = { now: 0, before: 0, isWhole: true };
  let until: number | undefined;
  for (let read = 0; read < eventsMax; read += stepMax) {
    const columns = raw("position, at");
    const walk = {
      table: "events",
      index: "events_by_type",
      columns,
      accountId,
      equal: { type },
      order: ["position"],
      isBackwards: true,
      until,
    };
    const { statement, values } = walkStatement<[position: number, at: number]>(db.engine, [walk], stepMax);
    const rows = await db.scan(() => db.rows(statement, values));
    for (const [, at] of rows) {
      if (at > now - days * dayMs) count.now += 1;
      else if (at > now - 2 * days * dayMs) count.before += 1;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < stepMax || last[1] <= now - 2 * days * dayMs) return count;
    until = last[0];
  }
  return { ...count, isWhole: false };
}
