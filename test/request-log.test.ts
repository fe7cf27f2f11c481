import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { deleteAccount } from "../src/callers/accounts/accounts.store.ts";
import { expireRequests } from "../src/callers/usage/request-log.store.ts";
import { keptMs, openRequestLog, requestsKept } from "../src/callers/usage/request-recorder.ts";
import type { Database } from "../src/platform/db/database.ts";
import { newMember } from "./support/dashboard.ts";
import type { Failure } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";

const noon = Date.UTC(2026, 5, 15, 12);
const time = { now: noon };
let service: TestService;
before(async () => void (service = await startService({ clock: () => time.now })));
after(() => service.close());

type Logged = { position: number; at: string; keyId: number; method: string; route: string | null; status: number };
type Page = { requests: Logged[]; next: number | null };

/** An account with a key, whose owner reads the log. */
async function newShop(perMinute = 1_000) {
  const { id, key } = await service.newAccount("enterprise", { perMinute, perDay: 100_000 });
  const owner = await newMember(service, { account: id, email: `owner${id}@shop.example`, role: "owner" });
  const read = async (query = ""): Promise<Page> => {
    const { status, body } = await owner.ask<Page>("GET", `/requests${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const lines = async (query?: string) => (await read(query)).requests.map(({ method, route, status }) => `${method} ${route} ${status}`);
  const { keys } = await service.administration["keys.list"]({ account: id });
  return { id, key, keyId: keys[0]!.id, owner, read, lines };
}

/** A log in memory as a node has one, and a function that notes requests of an account. */
function openLog(accountId: number, db: Database = service.db) {
  const log = openRequestLog({ db, clock: () => time.now });
  const identified = { accountId, keyId: 1, scopes: new Set<string>() };
  const note = (count: number, status = 200) => {
    for (let i = 0; i < count; i++) log.record({ identified, method: "GET", template: "/v1/pets", status });
  };
  return { log, note };
}

const countOf = async (accountId: number) =>
  (await service.db.query(sql`SELECT 1 FROM request_log WHERE account_id = ${accountId}`)).length;

test("the log shows method, route, status, key and time of the last requests, the newest first, and no value that a client sent", async () => {
  const { key, keyId, read, lines } = await newShop();
  await service.ask("GET", "/pets?q=secret-word", { key });
  await service.ask("POST", "/pets", { key, body: { name: "secret-word" } });
  await service.ask("GET", "/store/orders/4711", { key });
  await service.ask("GET", "/secret-word", { key });
  await service.ask("PATCH", "/pets", { key });
  assert.deepEqual(await lines(), [
    "PATCH /v1/pets 405",
    "GET null 404",
    "GET /v1/store/orders/{orderId} 404",
    "POST /v1/pets 400",
    "GET /v1/pets 200",
  ]);
  const [first] = (await read()).requests;
  assert.deepEqual([first!.keyId, first!.at], [keyId, "2026-06-15T12:00:00Z"]);
  const rows = await service.db.query(sql`SELECT * FROM request_log`);
  assert.doesNotMatch(JSON.stringify(rows), /secret-word|4711|psk_/);
});

test("a request over a limit is in the log, and calls of the dashboard and requests without a valid key are not", async () => {
  const { key, owner, lines } = await newShop(1);
  await service.ask("GET", "/pets", { key });
  await service.ask("GET", "/pets", { key });
  await service.ask("GET", "/pets", { key: `${key}x` });
  await owner.ask("GET", "/pets");
  assert.deepEqual(await lines(), ["GET /v1/pets 429", "GET /v1/pets 200"]);
});

test("filters by key and class of status, and pages that begin after a request, show each request once", async () => {
  const { id, key, keyId, owner, read, lines } = await newShop();
  const other = await service.administration["keys.create"]({ account: id, scopes: ["catalogue:read"] });
  for (let i = 0; i < 3; i++) {
    await service.ask("GET", "/pets", { key });
    await service.ask("POST", "/pets", { key: other.key, body: {} });
  }
  assert.deepEqual(await lines("?status=4xx"), Array(3).fill("POST /v1/pets 403"));
  assert.deepEqual(await lines("?status=2xx"), Array(3).fill("GET /v1/pets 200"));
  assert.deepEqual(await lines(`?keyId=${keyId}`), Array(3).fill("GET /v1/pets 200"));
  assert.deepEqual(await lines(`?keyId=${keyId}&status=4xx`), []);
  for (const filter of ["", "&status=4xx"]) {
    const positions: number[] = [];
    for (let next: number | null | undefined; next !== null;) {
      const page: Page = await read(`?limit=2${filter}${next ? `&before=${next}` : ""}`);
      positions.push(...page.requests.map(({ position }) => position));
      next = page.next;
    }
    assert.equal(new Set(positions).size, filter === "" ? 6 : 3);
    assert.deepEqual(
      positions,
      positions.toSorted((a, b) => b - a),
    );
  }
  for (const query of ["?status=9xx", "?keyId=0", "?limit=101", "?before=x", "?path=/pets"])
    assert.equal((await owner.ask<Failure>("GET", `/requests${query}`)).status, 400, query);
});

test("the log of one account is invisible to another, and goes with its account", async () => {
  const [one, another] = [await newShop(), await newShop()];
  await service.ask("GET", "/pets", { key: one.key });
  assert.equal((await one.read()).requests.length, 1);
  assert.deepEqual(await another.read(), { requests: [], next: null });
  const { log, note } = openLog(one.id);
  note(1);
  await deleteAccount(service.db, one.id, () => undefined);
  await log.flush();
  assert.equal(await countOf(one.id), 0);
});

test("between two writes the newest 200 requests of an account stay, and a flood of one account drops no request of another", async () => {
  const [busy, quiet] = [await newShop(), await newShop()];
  const { log, note } = openLog(busy.id);
  note(1_000, 500);
  note(200);
  log.record({ identified: { accountId: quiet.id, keyId: 1, scopes: new Set() }, method: "GET", template: undefined, status: 404 });
  await log.flush();
  assert.deepEqual(await busy.lines("?status=5xx"), []);
  assert.equal(await countOf(busy.id), 200);
  assert.deepEqual(await quiet.lines(), ["GET null 404"]);
});

test("a write that the database refuses drops its requests, and later ones are written", async () => {
  const { id } = await newShop();
  let failures = 1;
  const failing: Database = {
    ...service.db,
    write: (body) => (failures-- > 0 ? Promise.reject(new Error("full")) : service.db.write(body)),
  };
  const { log, note } = openLog(id, failing);
  note(5);
  await assert.rejects(log.flush(), /full/);
  note(2);
  await log.flush();
  assert.equal(await countOf(id), 2);
});

test("requests are kept for 7 days, and the newest 5,000 of an account also across restarts of nodes", async () => {
  const { id, read } = await newShop();
  for (let start = 0; start < 2; start++) {
    const { log, note } = openLog(id);
    for (let i = 0; i < 14; i++) {
      note(200, 200 + start);
      await log.flush();
      time.now += 1_000;
    }
  }
  const left = await countOf(id);
  assert.ok(left >= requestsKept && left < requestsKept + 500, `${left}`);
  await openAgain(id);
  assert.equal(await countOf(id), requestsKept);
  assert.equal((await read("?limit=1")).requests[0]!.status, 204);

  await expireRequests(service.db, time.now - keptMs);
  assert.equal(await countOf(id), requestsKept);
  await expireRequests(service.db, time.now);
  assert.equal(await countOf(id), 1);
});

/** A node that starts, and writes one request. */
async function openAgain(id: number): Promise<void> {
  const { log, note } = openLog(id);
  note(1, 204);
  await log.flush();
}
