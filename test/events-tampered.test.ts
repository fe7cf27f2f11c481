import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import sql, { join, raw, type Sql } from "sql-template-tag";
import { checkFolder, checkPostgres } from "../src/backup/check.ts";
import { allNumbered } from "./support/event-log.ts";
import { runs } from "./support/fault-runs.ts";
import { newDatabase } from "./support/postgres.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let shared: Awaited<ReturnType<typeof newDatabase>> | undefined;
let service: TestService;
before(async () => {
  shared = engine === "postgres" ? await newDatabase(undefined, { migrated: true }) : undefined;
  service = await startService(shared && { env: { DATABASE_URL: shared.url } });
});
after(async () => {
  await service.close();
  await shared?.drop();
});

const columns = ["account_id", "position", "type", "at", "resource", "actor", "request_id", "version", "text", "hash"] as const;
type Stored = Record<(typeof columns)[number], string | number | null>;
const check = async () => {
  const { faults, events } = await (shared ? checkPostgres(shared.url, undefined, true) : checkFolder(service.dataDir, undefined, true));
  return { faults: faults.filter((fault) => fault.includes("event")), events: events?.events };
};

const insert = (events: readonly Stored[]): Sql => {
  const rows = events.map((event) => sql`(${join(columns.map((column) => event[column]))})`);
  return sql`INSERT INTO events (${raw(columns.join(", "))}) VALUES ${join(rows)}`;
};

/** What somebody with access to the database may do to a log of so many events; `version` has no place in the text. */
const tampering = (events: number) => {
  const place = fc.integer({ min: 0, max: events - 1 });
  const column = fc.constantFrom("type", "at", "resource", "actor", "request_id", "text", "hash" as const);
  return fc.oneof(
    fc.record({ kind: fc.constant("change" as const), place, column, at: fc.nat(), by: fc.integer({ min: 1, max: 25 }) }),
    fc.record({ kind: fc.constant("delete" as const), place: fc.integer({ min: 0, max: events - 2 }) }),
    fc.record({ kind: fc.constant("swap" as const), place: fc.integer({ min: 0, max: events - 2 }) }),
    fc.record({ kind: fc.constant("insert" as const), place }),
  );
};
type Tampering = ReturnType<typeof tampering> extends fc.Arbitrary<infer T> ? T : never;

/** One character, or the time, is another; nothing else can become what it was. */
function changed(event: Stored, column: keyof Stored, at: number, by: number): Stored {
  const value = event[column];
  if (typeof value === "number") return { ...event, [column]: value + by * 1_000 };
  if (value === null || value === "") return { ...event, [column]: "x" };
  const place = at % value.length;
  const other = String.fromCharCode(97 + ((value.charCodeAt(place) - 97 + by + 26 * 10) % 26));
  const text = value.slice(0, place) + (other === value[place] ? "~" : other) + value.slice(place + 1);
  return { ...event, [column]: text };
}

/** The log as it is after the tampering. */
function tampered(log: readonly Stored[], what: Tampering): Stored[] {
  const own = log[what.place]!;
  const at = (event: Stored, position: number) => ({ ...event, position });
  if (what.kind === "change") return log.with(what.place, changed(own, what.column, what.at, what.by));
  if (what.kind === "delete") return log.toSpliced(what.place, 1);
  if (what.kind === "insert") {
    const later = log.slice(what.place).map((event) => at(event, Number(event.position) + 1));
    return [...log.slice(0, what.place), own, ...later];
  }
  const next = log[what.place + 1]!;
  return log.with(what.place, at(next, Number(own.position))).with(what.place + 1, at(own, Number(next.position)));
}

test("verify finds every change, deletion, swap and insertion of a stored event, whatever its type", async () => {
  const { db, accountId } = service;
  const category = await newCategory(service, "Dogs");
  const pet = await newPet(service, category.id);
  await made(service, "PUT", `/store/inventory/${pet.id}`, { quantity: 5 });
  await made(service, "POST", "/store/orders", { petId: pet.id });
  await service.ask("PUT", `/pets/${pet.id}/profile`, { body: { description: "Friendly" } });
  await made(service, "POST", "/projects", { name: "Shop", slug: "tampered" });
  await allNumbered(db);
  const own = sql`account_id = ${accountId}`;
  const log = await db.query<Stored>(sql`SELECT ${raw(columns.join(", "))} FROM events WHERE ${own} ORDER BY position`);
  assert.deepEqual(await check(), { faults: [], events: log.length }, "whole, with a profile as a pet's newest event");
  const put = (events: readonly Stored[]) =>
    db.write(async (tx) => {
      await tx.query(sql`DELETE FROM events WHERE ${own}`);
      await tx.query(insert(events));
    });
  await fc.assert(
    fc.asyncProperty(tampering(log.length), async (what) => {
      await put(tampered(log, what));
      const { faults } = await check();
      await put(log);
      assert.ok(faults.length > 0, JSON.stringify(what));
    }),
    { numRuns: runs(engine === "sqlite" ? 60 : 12, 300) },
  );
  assert.deepEqual(await check(), { faults: [], events: log.length });
});
