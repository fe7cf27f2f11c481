import sql, { join, type Sql } from "sql-template-tag";
import { limitTo } from "../../platform/db/batches.ts";
import type { Database } from "../../platform/db/database.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Id } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { byId, Problem } from "../../platform/problem.ts";
import type { EventServices } from "./events.routes.ts";
import { logStart, newestEvent, type StoredEvent } from "./events.store.ts";
import { EventTypeSchema, position } from "./events.ts";
import { NamedActor, type NamedEvent, withNames } from "./named-events.ts";
import { untilNumbered } from "./order-history.routes.ts";

/** The most events of one page, and that one page reads of the log, at most `stepMax` at once. */
const limit = 20;
const readMax = 20_000;
const stepMax = 1_000;

const Value = Type.Unsafe<unknown>({ description: "Null if there was none, or for a long text." });
const Change = Type.Object({ field: Type.String(), before: Value, after: Value });
type Change = Static<typeof Change>;

const PetHistory = Type.Object({
  events: Type.Array(
    Type.Object({
      position,
      type: EventTypeSchema,
      at: DateTime("When it happened."),
      actor: NamedActor,
      requestId: Type.Unsafe<string | null>({ type: "string", nullable: true }),
      orderId: Type.Optional(Id("The order, of an event of one.")),
      quantity: Type.Optional(Type.Integer({ description: "The order's units." })),
      changes: Type.Array(Change),
    }),
  ),
  read: Type.Integer({ description: "How many events of the log were read for this page." }),
  next: Type.Unsafe<number | null>({
    type: "integer",
    format: "int64",
    nullable: true,
    description: "`before` of the next page; null at the end. A page may have few events or none and still have a next one.",
  }),
});

/** The history of an animal, for the dashboard. */
export const petHistoryRoutes: Operation<Pick<EventServices, "listeners">>[] = [
  operation({
    operationId: "getPetHistory",
    method: "GET",
    path: "/pets/{petId}/history",
    tag: "Animals",
    summary: "Get the history of a pet",
    description: "What happened to the pet, its stock and its orders, the newest first, with who did it. A deleted pet has one too.",
    scope: "catalogue:read",
    params: Type.Object({ petId: Id("The pet's identifier.") }),
    query: Type.Object({
      before: Type.Optional(
        Type.Integer({ format: "int64", minimum: 1, description: "Only events before this position: `next` of the page before." }),
      ),
    }),
    answers: { 200: { description: "What happened to the pet.", schema: PetHistory } },
    problems: ["not_found"],
    read: async (db, { accountId, params: { petId }, query: { before }, services }) => {
      if (before === undefined) await untilNumbered(db, accountId, [`pet/${petId}`, `inventory/${petId}`], services);
      const { events, read, next } = await readHistory(db, accountId, petId, before);
      if (events.length === 0 && next === null && before === undefined) await requirePet(db, accountId, petId);
      const named = await withNames(db, accountId, events);
      return { status: 200, body: { events: named.map(shown), read, next } };
    },
  }),
];

type Page = { events: Pick<StoredEvent, "position" | "actor" | "text">[]; read: number; next: number | null };

/**
 * Reads the log backwards for events of a pet, its stock and its orders. No index finds them, because every order would pay for it; positions
 * have no gaps, so each step is a range of the primary key, and a page reads a bounded number of steps however long the log is.
 */
async function readHistory(db: Database, accountId: number, petId: number, before: number | undefined): Promise<Page> {
  const newest = (await newestEvent(db, accountId)).position + 1;
  const start = (await logStart(db, accountId)).position;
  const events: Page["events"] = [];
  const from = Math.min(before ?? newest, newest);
  const end = Math.max(start, from - readMax);
  for (let until = from; until > end; until -= stepMax) {
    const wanted = limit - events.length;
    const found = await db.scan(() =>
      db.query<Page["events"][number]>(stepOf(db.engine, accountId, petId, [Math.max(end, until - stepMax), until], wanted)),
    );
    events.push(...found);
    if (found.length === wanted) {
      const last = events.at(-1)!.position;
      return { events, read: from - last, next: last > start ? last : null };
    }
  }
  return { events, read: Math.max(0, from - end), next: end > start ? end : null };
}

/** An order's event has the pet's id in its data, or in what was before if the order got another pet. */
function stepOf(engine: Database["engine"], accountId: number, petId: number, [from, until]: [number, number], rows: number): Sql {
  const has = (part: string): Sql => (engine === "sqlite" ? sql`instr(text, ${part}) > 0` : sql`strpos(text, ${part}) > 0`);
  const kinds = ["pet.created", "pet.updated", "pet.deleted", "pet.profile_updated", "inventory.updated", "inventory.deleted"];
  const ofOrders = ["order.created", "order.updated", "order.completed", "order.cancelled"];
  return sql`
    SELECT position, actor, text FROM events
    WHERE account_id = ${accountId} AND position >= ${from} AND position < ${until}
      AND ((resource IN (${`pet/${petId}`}, ${`inventory/${petId}`}) AND type IN (${join(kinds)}))
        OR (type IN (${join(ofOrders)}) AND (${has(`"petId":${petId},`)} OR ${has(`"petId":${petId}}`)})))
    ORDER BY position DESC ${limitTo(rows)}`;
}

async function requirePet(db: Database, accountId: number, petId: number): Promise<void> {
  const rows = await db.query(sql`SELECT 1 FROM pets WHERE account_id = ${accountId} AND id = ${petId}`);
  if (rows.length === 0) throw new Problem("not_found", `There is no ${byId("pet", petId)}.`);
}

type Fields = Record<string, unknown>;

function shown({ position: at, type, at: time, actor, requestId, resource, data, previous }: NamedEvent) {
  const fields = data as Fields;
  const ofOrder = resource.type === "order" && { orderId: Number(resource.id), quantity: Number(fields["quantity"]) };
  return { position: at, type, at: time, actor, requestId, ...ofOrder, changes: changesOf(fields, previous as Fields) };
}

/** Long texts are left out, and photos are counted, so that an entry is short whatever changed. */
function changesOf(data: Fields, previous: Fields): Change[] {
  const value = (field: string, of: Fields): unknown => {
    const found = of[field] ?? null;
    if (Array.isArray(found)) return found.length;
    return field === "description" || field === "facts" ? null : found;
  };
  return Object.keys(previous).map((field) => ({ field, before: value(field, previous), after: value(field, data) }));
}
