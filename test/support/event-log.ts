import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { readEvents } from "../../src/events/log/events.store.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { requireTypedData } from "./event-data.ts";
import { until } from "./until.ts";

export type LoggedEvent = {
  position: number;
  id: string;
  type: string;
  at: string;
  actor: { type: string; id: number | null };
  requestId: string | null;
  resource: { type: string; id: number | string };
  data: Record<string, unknown>;
  previous: Record<string, unknown>;
  hash: string;
};

/** Waits until no event waits for its position. */
export async function allNumbered(db: Database): Promise<void> {
  await until(async () => (await db.query(sql`SELECT 1 FROM event_outbox LIMIT 1`)).length === 0);
}

/** All events of an account, once none waits for its position. */
export async function loggedEvents(db: Database, accountId: number, after = 0): Promise<LoggedEvent[]> {
  await allNumbered(db);
  const events: LoggedEvent[] = [];
  for (let from = after; ;) {
    const page = await readEvents(db, accountId, { after: from, limit: 1_000 });
    events.push(...page.map(({ text, hash }) => ({ ...(JSON.parse(text) as Omit<LoggedEvent, "hash">), hash })));
    for (const event of events) requireTypedData(event);
    if (page.length < 1_000) return events;
    from = page.at(-1)!.position;
  }
}

/** Requires what any reader can check: positions without a gap, and the chain of hashes over the canonical form of each event. */
export function requireWhole(events: readonly LoggedEvent[], from = { position: 1, previousHash: "0".repeat(64) }): void {
  let [position, previousHash] = [from.position, from.previousHash];
  for (const { hash, ...event } of events) {
    assert.equal(event.position, position);
    assert.equal(
      hash,
      createHash("sha256")
        .update(`${previousHash}\n${sortedJson(event)}`)
        .digest("hex"),
      `the hash of event ${position}`,
    );
    [position, previousHash] = [position + 1, hash];
  }
}

/** JSON with sorted members, as RFC 8785 writes it: written here once more, so that the service is not checked by its own code. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    member !== null && typeof member === "object" && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
