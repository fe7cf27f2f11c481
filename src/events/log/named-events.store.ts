import sql, { join } from "sql-template-tag";
import type { Queryable } from "../../platform/db/database.ts";
import type { StoredEvent } from "./events.store.ts";
import { namedEvent, type NamedEvent } from "./named-events.ts";

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
    const rows = await db.query<Named>(sql`SELECT id, name FROM keys WHERE account_id = ${accountId} AND id IN (${join(keys)})`);
    for (const { id, name } of rows) names.set(`key/${id}`, name ?? `Key ${id}`);
  }
  if (members.length > 0) {
    const rows = await db.query<Named>(
      sql`SELECT id, email AS name FROM members WHERE account_id = ${accountId} AND id IN (${join(members)})`,
    );
    for (const { id, name } of rows) if (name !== null) names.set(`member/${id}`, name);
  }
  return events.map((event) => namedEvent(event, names));
}

type Named = { id: number; name: string | null };

function idsOf(actors: Iterable<string>, type: "key" | "member"): number[] {
  return [...actors].filter((actor) => actor.startsWith(`${type}/`)).map((actor) => Number(actor.slice(type.length + 1)));
}
