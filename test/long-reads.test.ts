import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { sendAudit } from "../src/events/log/audit-export.ts";
import { auditTypes } from "../src/events/log/audit.ts";
import { streamEvents } from "../src/events/log/stream.ts";
import type { Awaitable } from "../src/platform/db/database.ts";
import type { AnswerStream } from "../src/platform/http/operation.ts";
import { countPets, listLowStock } from "../src/store/inventory/catalogue-counts.store.ts";
import type { PetQuery } from "../src/store/pets/pets.ts";
import { newMember, type Browser } from "./support/dashboard.ts";
import { allNumbered } from "./support/event-log.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

const events = 300;
const animals = 4_100;
/** A place for texts of about 1,000 bytes, so that pages are bounded by their events. */
const filling = "x".repeat(1_000);

/** An account with an owner and events of the audit, whose data has this text. */
async function openShop({ text = filling, count = events } = {}) {
  const { id, key } = await service.newAccount();
  const owner = await newMember(service, { account: id, email: `owner${id}@shop.example`, role: "owner" });
  await service.db.write(async (tx) => {
    for (let i = 1; i <= count; i++)
      tx.record({ accountId: id, type: "webhook.updated", resource: { type: "webhook", id: i }, data: { id: i, text } });
  });
  await allNumbered(service.db);
  return { id, key, owner };
}

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  const counted = { turns: 0, stop: () => clearImmediate(next) };
  let next = setImmediate(count);
  function count(): void {
    counted.turns += 1;
    next = setImmediate(count);
  }
  return counted;
}

/** The body of an answer whose client reads at once, or never. It notes in which turn each piece was written. */
function openBody(counted: { turns: number }, isRead = true) {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const body = { pieces: [] as string[], turns: [] as number[], closed, isDestroyed: false, leave: () => undefined as void };
  let wake = close;
  const stream: AnswerStream = {
    write(text) {
      body.pieces.push(text);
      body.turns.push(counted.turns);
      return isRead;
    },
    end: close,
    destroy: () => ((body.isDestroyed = true), close()),
    onDrain: () => undefined,
    onClose: (listener) => void (wake = listener),
  };
  body.leave = () => wake();
  return { body, stream };
}

function streaming(accountId: number) {
  const listener = { next: async () => undefined, wake: () => undefined, close: () => undefined };
  const db = service.db.as({ caller: accountId });
  return { db, accountId, after: 0, types: undefined, endsAfterMs: 0, listener, isClosed: () => false, isAllowed: async () => true };
}

/** The turns in which pages of at least this length were written. */
const pagesOf = ({ pieces, turns }: { pieces: string[]; turns: number[] }) => turns.filter((_, i) => pieces[i]!.length > 1_000);

test("streams that catch up give a turn after each page, and on SQLite no turn has pages of two of them", async () => {
  const shops = [await openShop(), await openShop()];
  const counted = countTurns();
  const bodies = Array.from({ length: 20 }, () => openBody(counted));
  await Promise.all(bodies.map(({ stream }, i) => streamEvents(stream, streaming(shops[i % 2]!.id))));
  counted.stop();
  for (const { body } of bodies) {
    const turns = pagesOf(body);
    assert.ok(turns.length >= events / 50 && new Set(turns).size === turns.length, turns.join());
    assert.equal(body.pieces.join("").match(/webhook\.updated/g)?.length, events);
  }
  const all = bodies.flatMap(({ body }) => pagesOf(body));
  if (service.db.engine === "sqlite") assert.equal(new Set(all).size, all.length);
});

test("exports give a turn after each page, and on SQLite no turn has pages of two of them", async () => {
  const shops = [await openShop(), await openShop()];
  const counted = countTurns();
  const bodies = Array.from({ length: 4 }, () => openBody(counted));
  const filter = { types: auditTypes, actor: undefined, resource: undefined, requestId: undefined, from: undefined, to: undefined };
  const released: number[] = [];
  const exporting = (accountId: number) => ({ accountId, db: service.db.as({ caller: accountId }), filter, isClosed: () => false });
  const release = (i: number) => () => void released.push(i);
  await Promise.all(bodies.map(({ stream }, i) => sendAudit(stream, { ...exporting(shops[i % 2]!.id), release: release(i) })));
  counted.stop();
  assert.deepEqual(new Set(released), new Set([0, 1, 2, 3]));
  const pages = bodies.map(({ body }) => [...new Set(pagesOf(body))]);
  for (const turns of pages) assert.ok(turns.length >= events / 100, turns.join());
  if (service.db.engine === "sqlite") assert.equal(new Set(pages.flat()).size, pages.flat().length);
});

test("a stream holds at most 256 KiB for a client that does not read, and an event that is larger alone", async () => {
  const counted = { turns: 0 };
  const heldBy = async (text: string): Promise<string> => {
    const { id } = await openShop({ text, count: 20 });
    const { body, stream } = openBody(counted);
    const slow = { ...stream, write: (piece: string) => stream.write(piece) && piece.length < 1_000 };
    const sent = streamEvents(slow, streaming(id));
    while ((body.pieces.at(-1) ?? "").length < 1_000) await new Promise(setImmediate);
    const held = body.pieces.length;
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    assert.equal(body.pieces.length, held, "nothing is read for a client that does not read");
    body.leave();
    await sent;
    return body.pieces.at(-1)!;
  };
  const page = await heldBy("x".repeat(20_000));
  assert.ok(page.length > 200_000 && page.length <= 262_144, `${page.length}`);
  assert.match(await heldBy("x".repeat(300_000)), /^id: \d+\ndata: .{300000,}\n\n$/);
});

/** A shop with `animals` animals of two categories, a third of them sold, each with a later word and stock of 0 to 6, which was 4 or more once, but for each eleventh. */
async function openCatalogue() {
  const { id } = await service.newAccount();
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${animals})`;
  const status = sql`CASE WHEN i % 3 = 0 THEN 'sold' ELSE 'available' END`;
  await service.db.write(
    async (tx) => {
      for (const category of [1, 2])
        await tx.query(
          sql`INSERT INTO categories (account_id, id, name, name_key, version) VALUES (${id}, ${category}, ${`C${category}`}, ${`c${category}`}, 1)`,
        );
      await tx.query(sql`
      INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
      ${numbers} SELECT ${id}, i, 'Rex ' || i, 'rex ' || i, 1 + i % 2, ${status}, 1 FROM n`);
      await tx.query(sql`
      INSERT INTO inventory (account_id, pet_id, quantity, held, status, version, highest)
      ${numbers} SELECT ${id}, i, i % 7, 0, ${status}, 1, CASE WHEN i % 11 = 0 THEN 3 ELSE 9 END FROM n`);
    },
    { statementMs: 60_000 },
  );
  return id;
}

test("counts of a catalogue read a page at a time, and are those of one read", async () => {
  const id = await openCatalogue();
  let pages = 0;
  const own = service.db.as({ caller: id });
  const db = { ...own, scan: <T>(read: () => Awaitable<T>) => ((pages += 1), own.scan(read)) };
  const where = (condition: (i: number) => boolean) => Array.from({ length: animals }, (_, i) => i + 1).filter(condition);
  const cases: [PetQuery, (i: number) => boolean][] = [
    [{}, () => true],
    [{ status: ["sold"] }, (i) => i % 3 === 0],
    [{ status: ["sold", "pending"], categoryId: 1 }, (i) => i % 6 === 0],
    [{ q: "rex" }, () => true],
    [{ q: "4", status: ["available", "pending"] }, (i) => String(i).startsWith("4") && i % 3 !== 0],
    [{ q: "rex 4", categoryId: 2 }, (i) => String(i).startsWith("4") && i % 2 === 1],
  ];
  for (const [query, condition] of cases) {
    const found = where(condition);
    const categories = [1, 2].map((categoryId) => ({ categoryId, count: found.filter((i) => 1 + (i % 2) === categoryId).length }));
    const expected = { count: found.length, isMore: false, categories: categories.filter(({ count }) => count > 0) };
    assert.deepEqual(await countPets(db, id, query), expected, JSON.stringify(query));
  }
  assert.ok(pages > 10, `${pages}`);
  pages = 0;
  const { count, entries } = await listLowStock(db, id, 900);
  assert.deepEqual([count, pages], [where((i) => i % 7 <= 3 && i % 11 !== 0).length, 3]);
  const lowest = [...where((i) => i % 7 === 0 && i % 11 !== 0), ...where((i) => i % 7 === 1 && i % 11 !== 0)].slice(0, 900);
  assert.deepEqual(
    entries.map(({ petId, name }) => [petId, name]),
    lowest.map((i) => [i, `Rex ${i}`]),
  );
});

/** Begins an export whose client does not read on. */
async function beginExport({ cookie }: Browser) {
  const gone = new AbortController();
  const response = await fetch(`${service.address}/dashboard/v1/audit/export`, { headers: { cookie }, signal: gone.signal });
  return { response, leave: () => gone.abort() };
}

test("an account's third export at once is refused and recorded nowhere, and another account's runs", async () => {
  const large = "x".repeat(60_000);
  const [shop, other] = [await openShop({ text: large }), await openShop()];
  const second = await newMember(service, { account: shop.id, email: "second@shop.example", role: "owner" });
  const running = [await beginExport(shop.owner), await beginExport(second)];
  assert.deepEqual(
    running.map(({ response }) => response.status),
    [200, 200],
  );
  const refused = await beginExport(shop.owner);
  assert.equal(refused.response.status, 503);
  assert.ok(Number(refused.response.headers.get("retry-after")) > 0);
  assert.match(((await refused.response.json()) as { message: string }).message, /^Two exports of this account are running/);
  assert.equal((await beginExport(other.owner)).response.status, 200);
  const exported = async () => (await shop.owner.ask<{ events: unknown[] }>("GET", "/audit?types=member.exported")).body.events.length;
  await allNumbered(service.db);
  assert.equal(await exported(), 2);
  for (const { leave } of running) leave();
  let again = await beginExport(shop.owner);
  while (again.response.status === 503) again = await beginExport(shop.owner);
  assert.equal(again.response.status, 200);
  again.leave();
});
