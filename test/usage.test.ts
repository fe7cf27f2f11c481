import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { startService, testOnce, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";

const noon = Date.UTC(2026, 5, 15, 12);
const minuteMs = 60_000;

type Counts = { requests: number; refused: number; banned: number };
type Point = Counts & { start: string };
type Usage = {
  interval: string;
  from: string;
  to: string;
  points: Point[];
  eventBytes: { limit: number; used: number };
  groups?: (Counts & { keyId?: number; operation?: string; points: Point[] })[];
};

async function openScene(t: TestContext, dataDir?: string) {
  const time = { now: noon };
  const service = await startService({ clock: () => time.now, ...(dataDir !== undefined && { dataDir }) });
  t.after(() => service.close());
  return { time, service };
}

async function usageOf(service: TestService, query = "", key = service.key): Promise<Usage> {
  const reply = await service.ask<Usage>("GET", `/usage${query}`, { key });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

test("by default requests are shown by hour for 7 days, this one included", async (t) => {
  const { service } = await openScene(t);
  await service.ask("GET", "/pets");
  await until(async () => (await service.db.query(sql`SELECT 1 FROM events`)).length > 0); // on PostgreSQL numbered after the key was made
  const usage = await usageOf(service);
  const { limit, used } = usage.eventBytes;
  assert.ok(used > 256, "the event of the key");
  assert.deepEqual(usage, {
    interval: "hour",
    from: "2026-06-08T13:00:00Z",
    to: "2026-06-15T13:00:00Z",
    points: [{ start: "2026-06-15T12:00:00Z", requests: 2, refused: 0, banned: 0 }],
    records: { limit: 5_000_000, used: 0, remaining: 5_000_000 },
    publishedBytes: { limit: 53_687_091_200, used: 0, remaining: 53_687_091_200 },
    eventBytes: { limit: 5_368_709_120, used, remaining: limit - used },
  });
});

test("by minute an hour is shown, by day 90 days", async (t) => {
  const { time, service } = await openScene(t);
  await service.ask("GET", "/pets");
  time.now += 59 * minuteMs;
  const minutes = await usageOf(service, "?interval=minute");
  assert.deepEqual([minutes.from, minutes.to], ["2026-06-15T12:00:00Z", "2026-06-15T13:00:00Z"]);
  assert.deepEqual(
    minutes.points.map(({ start, requests }) => [start, requests]),
    [
      ["2026-06-15T12:00:00Z", 1],
      ["2026-06-15T12:59:00Z", 1],
    ],
  );
  time.now += minuteMs;
  assert.equal((await usageOf(service, "?interval=minute")).points.length, 2);
  const days = await usageOf(service, "?interval=day");
  assert.deepEqual([days.from, days.to], ["2026-03-18T00:00:00Z", "2026-06-16T00:00:00Z"]);
  assert.equal(days.points[0]?.requests, 4);
});

test("keys and operations are listed separately, those with most requests first", async (t) => {
  const { service } = await openScene(t);
  const { id, key } = await service.newAccount("business");
  const other = await service.administration["keys.create"]({ account: id, scopes: ["account:read"] });
  await service.ask("GET", "/pets", { key });
  await service.ask("HEAD", "/pets", { key });
  await service.ask("GET", "/nothing-here", { key });
  const byOperation = await usageOf(service, "?groupBy=operation", other.key);
  assert.deepEqual(
    byOperation.groups?.map(({ operation, requests }) => [operation, requests]),
    [
      ["listPets", 2],
      ["getUsage", 1],
      ["other", 1],
    ],
  );
  const byKey = await usageOf(service, "?groupBy=key", other.key);
  const { keys } = await service.administration["keys.list"]({ account: id });
  assert.deepEqual(
    byKey.groups?.map(({ keyId, requests }) => [keyId, requests]),
    keys.map((listed, i) => [listed.id, [3, 2][i]]),
  );
});

testOnce("refusals are counted separately, and a request without a valid key counts for no account", async (t) => {
  const { service } = await openScene(t);
  const { id, key } = await service.newAccount("enterprise", { perMinute: 2, perDay: 1_000 });
  for (let i = 0; i < 25; i++) await service.ask("GET", "/pets", { key });
  await service.ask("GET", "/pets", { key: `${key.slice(0, -1)}!` });
  await service.ask("GET", "/pets", { key: "" });
  await service.administration["accounts.setPlan"]({ id, plan: "enterprise", perMinute: 100, perDay: 1_000 });
  const other = await service.administration["keys.create"]({ account: id });
  const { points } = await usageOf(service, "", other.key);
  assert.deepEqual(points, [{ start: "2026-06-15T12:00:00Z", requests: 3, refused: 20, banned: 3 }]);
});

test("usage survives a restart, and another account's is not shown", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const before = await startService({ clock: () => noon, dataDir });
  for (let i = 0; i < 10; i++) await before.ask("GET", "/pets");
  await before.close();
  const { service } = await openScene(t, dataDir);
  t.after(() => rmSync(dataDir, { recursive: true }));
  assert.equal((await usageOf(service, "", before.key)).points[0]?.requests, 11);
  assert.equal((await usageOf(service)).points[0]?.requests, 1);
});

testOnce("an interval or a grouping that does not exist is a 400", async (t) => {
  const { service } = await openScene(t);
  for (const query of ["?interval=week", "?groupBy=account", "?interval=hour&interval=day"]) {
    assert.equal((await service.ask("GET", `/usage${query}`)).status, 400, query);
  }
});
