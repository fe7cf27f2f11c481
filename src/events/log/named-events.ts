import sql, { join } from "sql-template-tag";
import type { Queryable } from "../../platform/db/database.ts";
import { DateTime } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import type { StoredEvent } from "./events.store.ts";
import { ActorType, AnyObject, EventTypeSchema, nullableId, position } from "./events.ts";

/** Who caused an event, for people. */
export const NamedActor = Type.Object({
  type: ActorType,
  id: nullableId,
  name: Type.Unsafe<string | null>({
    type: "string",
    nullable: true,
    description: "The name of the key, or the email of the member; null if there is none, or the key or member was deleted.",
  }),
});

/** An event for people: with the name of who caused it, and without the hash. */
export const NamedEvent = Type.Object({
  position,
  type: EventTypeSchema,
  at: DateTime("When it happened."),
  actor: NamedActor,
  requestId: Type.Unsafe<string | null>({ type: "string", nullable: true, description: "The `X-Request-Id` of the request." }),
  resource: Type.Object({ type: Type.String(), id: Type.Unsafe<number | string>({}) }),
  data: AnyObject("The resource after the change; its last state if it is gone."),
  previous: AnyObject("The fields that changed, as they were."),
});
export type NamedEvent = Static<typeof NamedEvent>;

/** @param names of keys and members, by `key/3` and `member/5` */
function namedEvent({ text }: Pick<StoredEvent, "text">, names: ReadonlyMap<string, string>): NamedEvent {
  const { id: _id, actor, ...event } = JSON.parse(text) as NamedEvent & { id: string };
  const name = names.get(`${actor.type}/${actor.id}`) ?? null;
  return { ...event, actor: { ...actor, name } };
}

/** Adds to each event the name of the key that caused it, or the email of the member. */
export async function withNames(
  db: Queryable,
  accountId: number,
  events: readonly Pick<StoredEvent, "actor" | "text">[],
): Promise<NamedEvent[]> {
  const actors = new Set(events.map(({ actor }) => actor));
  const [keys, members] = [idsOf(actors, "key"), idsOf(actors, "member")];
  const names = new Map<string, string>();
  if (keys.length > 0) {
    const rows = await db.query<NamedResource>(sql`SELECT id, name FROM keys WHERE account_id = ${accountId} AND id IN (${join(keys)})`);
    for (const { id, name } of rows) names.set(`key/${id}`, name ?? `Key ${id}`);
  }
  if (members.length > 0) {
    const rows = await db.query<NamedResource>(
      sql`SELECT id, email AS name FROM members WHERE account_id = ${accountId} AND id IN (${join(members)})`,
    );
    for (const { id, name } of rows) if (name !== null) names.set(`member/${id}`, name);
  }
  return events.map((event) => namedEvent(event, names));
}

type NamedResource = { id: number; name: string | null };

function idsOf(actors: Iterable<string>, type: "key" | "member"): number[] {
  return [...actors].filter((actor) => actor.startsWith(`${type}/`)).map((actor) => Number(actor.slice(type.length + 1)));
}
