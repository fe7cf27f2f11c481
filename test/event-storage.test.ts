import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { checkFolder, checkPostgres } from "../src/backup/check.ts";
import { expireEvents } from "../src/events/log/retention.ts";
import { setEventBytesMax } from "../src/platform/event-storage.ts";
import { newMember } from "./support/dashboard.ts";
import { allNumbered, loggedEvents, requireWhole } from "./support/event-log.ts";
import { newDatabase } from "./support/postgres.ts";
import { engine, startService, unlimited, type TestService } from "./support/service.ts";
import { made, newCategory } from "./support/shop.ts";
import { until } from "./support/until.ts";

const dayMs = 86_400_000;
const time = { now: Date.UTC(2026, 0, 1, 12) };
let service: TestService;
let shared: Awaited<ReturnType<typeof newDatabase>> | undefined;
before(async () => {
  shared = engine === "postgres" ? await newDatabase(undefined, { migrated: true }) : undefined;
  service = await startService({ clock: () => time.now, ...(shared && { env: { DATABASE_URL: shared.url } }) });
});
after(async () => {
  await service.close();
  await shared?.drop();
});

type Use = { limit: number; used: number; remaining: number };
type Checkpoint = { position: number; oldest: { position: number; previousHash: string } };

/** An account whose events may take so many bytes. */
async function openShop(eventBytes: number) {
  const { id, key } = await service.newAccount("enterprise", { ...unlimited, eventBytes });
  const { id: categoryId } = await newCategory(service, "Dogs", key);
  const use = async (path = "/usage") => (await made<{ eventBytes: Use }>(service, "GET", path, undefined, key)).eventBytes;
  return {
    id,
    key,
    use,
    /** Adds pets, each of which is an event of about 700 bytes. */
    add: (count: number) => {
      const pets = Array.from({ length: count }, () => ({ name: `Rex ${"x".repeat(80)}`, categoryId }));
      return made(service, "POST", "/pets/batch", pets, key);
    },
    untilWithin: () =>
      until(async () => {
        await allNumbered(service.db);
        const { used, limit } = await use();
        return used <= limit;
      }),
    setLimit: (bytes: number) => service.administration["accounts.setPlan"]({ id, plan: "enterprise", ...unlimited, eventBytes: bytes }),
    checkpoint: () => made<Checkpoint>(service, "GET", "/events/checkpoint", undefined, key),
    rows: () =>
      service.db.query<{ position: number; type: string; text: string }>(
        sql`SELECT position, type, text FROM events WHERE account_id = ${id} ORDER BY position`,
      ),
  };
}

type Shop = Awaited<ReturnType<typeof openShop>>;

async function requireCounted(shop: Shop): Promise<void> {
  const rows = await shop.rows();
  const bytes = rows.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 256, 0);
  assert.equal((await shop.use()).used, bytes);
  const { faults } = await (shared ? checkPostgres(shared.url, undefined, true) : checkFolder(service.dataDir, undefined, true));
  assert.deepEqual(faults, []);
}

test("beyond the account's bytes the oldest events go first: readers learn where the log begins, and what is left can be proved", async () => {
  const shop = await openShop(100_000);
  await shop.add(50);
  await allNumbered(service.db);
  const all = await loggedEvents(service.db, shop.id);
  const within = await shop.use();
  assert.deepEqual([within.limit, within.remaining], [100_000, 100_000 - within.used]);
  assert.ok(within.used > 50 * 600, String(within.used));
  await requireCounted(shop);

  for (let i = 0; i < 3; i++) await shop.add(200);
  await shop.untilWithin();
  const { used } = await shop.use();
  assert.ok(used > 95_000, `no more goes than has to: ${used}`);
  assert.deepEqual(await shop.use("/account"), await shop.use());
  const { position, oldest } = await shop.checkpoint();
  assert.equal(position, all.length + 600);
  const tooOld = await service.ask("GET", "/events?after=0", { key: shop.key });
  assert.deepEqual([tooOld.status, tooOld.headers.get("events-oldest")], [410, String(oldest.position)]);
  const kept = await loggedEvents(service.db, shop.id, oldest.position - 1);
  assert.deepEqual([kept[0]!.position, kept.at(-1)!.position], [oldest.position, position]);
  requireWhole(kept, oldest);
  await requireCounted(shop);
});

test("no event of another type displaces one of the audit, and no later one of the audit displaces the traces of the last 30 days", async () => {
  const shop = await openShop(32_000);
  const owner = await newMember(service, { account: shop.id, email: "owner@traces.example", role: "owner" });
  const webhook = async (name: string) => {
    const { id } = await made<{ id: number }>(service, "POST", "/webhooks", { url: `https://thief.example/${name}` }, shop.key);
    assert.equal((await service.ask("DELETE", `/webhooks/${id}`, { key: shop.key })).status, 204);
  };
  const traces = async () => {
    const { events } = (await owner.ask<{ events: { type: string; data: { url?: string } }[] }>("GET", "/audit?limit=100")).body;
    return events.map(({ type, data }) => data.url ?? type);
  };
  await webhook("first");
  await shop.add(100);
  await shop.untilWithin();
  const first = ["https://thief.example/first", "https://thief.example/first", "key.created", "member.invited", "member.signed_in"];
  assert.deepEqual((await traces()).toSorted(), first.toSorted());

  for (let i = 0; i < 16; i++) await webhook(`flood-${i}`);
  await shop.add(60);
  await shop.untilWithin();
  const rows = await shop.rows();
  const { oldest } = await shop.checkpoint();
  const older = rows.filter(({ position }) => position < oldest.position);
  const audit = older.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 256, 0);
  // the log keeps whole events, so up to one of its events is left for the audit
  assert.ok(audit <= 8_700 && audit > 6_000, `a quarter of the limit: ${audit}`);
  const left = await traces();
  for (const trace of first) assert.ok(left.includes(trace), trace);
  assert.ok(left.includes("https://thief.example/flood-0") && !left.includes("https://thief.example/flood-15"));
  await requireCounted(shop);

  time.now += 31 * dayMs;
  const again = await newMember(service, { account: shop.id, email: "second@traces.example", role: "owner" });
  for (let i = 0; i < 16; i++) await webhook(`later-${i}`);
  await shop.add(60);
  await shop.untilWithin();
  const { body } = await again.ask<{ events: { data: { url?: string } }[] }>("GET", "/audit?limit=100");
  const urls = new Set(body.events.map(({ data }) => data.url));
  assert.ok(urls.has("https://thief.example/later-0") && !urls.has("https://thief.example/first"), "the oldest go first after 30 days");
  await requireCounted(shop);
});

test("an account that holds more than its new limit keeps that size until its events grow old, but a limit that was named is applied at once", async () => {
  const shop = await openShop(1_000_000);
  await shop.add(200);
  await allNumbered(service.db);
  const held = (await shop.use()).used;
  await service.db.write((tx) => setEventBytesMax(tx, shop.id, 50_000, { keeps: true }));
  assert.deepEqual(await shop.use(), { limit: held, used: held, remaining: 0 });
  await shop.add(10);
  await shop.untilWithin();
  const { used, limit } = await shop.use();
  assert.ok(limit === held && used > held - 1_000, "newer events displace older ones");

  time.now += 20 * dayMs;
  await shop.add(10);
  await shop.untilWithin();
  await expireEvents(service.db, time.now + 15 * dayMs, { eventDaysKept: 30, auditDaysKept: 365 });
  const aged = await shop.use();
  assert.ok(aged.limit === 50_000 && aged.used < 20_000, JSON.stringify(aged));
  await requireCounted(shop);

  const dry = { id: shop.id, plan: "enterprise", ...unlimited, eventBytes: 3_000, dryRun: true };
  const { account } = await service.administration["accounts.setPlan"](dry);
  assert.equal(account.eventBytes.limit, 3_000);
  assert.equal((await shop.use()).limit, 50_000);
  await shop.setLimit(3_000);
  await shop.untilWithin();
  assert.equal((await shop.use()).limit, 3_000);
  await shop.setLimit(0);
  await until(async () => (await shop.rows()).length === 1);
  const { position, oldest } = await shop.checkpoint();
  assert.equal(oldest.position, position, "the newest event always stays");
  await requireCounted(shop);
});
