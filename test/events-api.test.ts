import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { openClient } from "../client/client.ts";
import { rows } from "../client/pages.ts";
import { expireEvents } from "../src/events/log/retention.ts";
import { newMember } from "./support/dashboard.ts";
import { allNumbered, requireWhole, type LoggedEvent } from "./support/event-log.ts";
import type { Failure } from "./support/models.ts";
import { startService, type Asked, type Reply, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

const list = <T = LoggedEvent[]>(query: string, asked: Asked = {}): Promise<Reply<T>> => service.ask<T>("GET", `/events${query}`, asked);

/** An account with a category and `pets` pets: as many events and one. */
async function openShop(pets: number) {
  const { id, key } = await service.newAccount();
  const category = await newCategory(service, "Dogs", key);
  for (let i = 0; i < pets; i++) await newPet(service, category.id, { name: `Dog ${i}` }, key);
  await allNumbered(service.db);
  return { id, key, category, add: () => newPet(service, category.id, {}, key) };
}

/** Reads a stream until `count` events have come, or to its end. */
async function readStream(key: string, query = "", count = Infinity, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await fetch(`${service.address}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream", ...headers },
    signal: stop.signal,
  });
  const events: LoggedEvent[] = [];
  let text = "";
  const finished = (async () => {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const parts = text.split("\n\n");
      text = parts.pop()!;
      for (const part of parts) {
        const match = /^id: (\d+)\ndata: (.*)$/.exec(part);
        if (!match) continue;
        const event = JSON.parse(match[2]!) as LoggedEvent;
        assert.equal(event.position, Number(match[1]));
        events.push(event);
      }
      if (events.length >= count) break;
    }
  })();
  return { response, events, finished, stop: () => stop.abort() };
}

test("events are listed in pages by position and filtered by type, and their chain can be checked from a checkpoint", async () => {
  const { key } = await openShop(4);
  const all = (await list("", { key })).body;
  requireWhole(all);
  assert.deepEqual(
    all.map(({ type }) => type).filter((type) => !type.startsWith("key.")),
    ["category.created", "pet.created", "pet.created", "pet.created", "pet.created"],
  );
  const first = all[1]!.position;
  assert.deepEqual((await list(`?after=${first}&limit=2`, { key })).body, all.filter(({ position }) => position > first).slice(0, 2));
  assert.equal((await list("?types=pet.*", { key })).body.length, 4);
  assert.equal((await list("?types=category.created,pet.deleted", { key })).body.length, 1);
  assert.equal((await list("?types=category.created&types=pet.created", { key })).body.length, 5);
  const { body: checkpoint } = await service.ask<object>("GET", `/events/checkpoint?position=${first}`, { key });
  assert.deepEqual(checkpoint, { position: first, hash: all[1]!.hash, oldest: { position: 1, previousHash: "0".repeat(64) } });
  const newest = (await service.ask<{ position: number }>("GET", "/events/checkpoint", { key })).body;
  assert.equal(newest.position, all.at(-1)!.position);
  const head = await service.ask("HEAD", "/events", { key });
  assert.equal(head.status, 200);
});

test("Link leads from page to page to the end of the log, keeps the query, and is absent where there is no more", async () => {
  const { key } = await openShop(6);
  const nextOf = ({ headers }: Reply<LoggedEvent[]>): string | undefined =>
    /^<\/v1\/events([^>]*)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
  const all = (await list("?limit=100", { key })).body;
  for (const query of [
    "?limit=2",
    "?limit=2&wait=1",
    "?limit=2&types=pet.*,category.created",
    "?types=pet.*&types=category.created&limit=3",
    "?limit=4",
  ]) {
    const found: LoggedEvent[] = [];
    let requests = 0;
    for (let next: string | undefined = query; next !== undefined;) {
      const page: Reply<LoggedEvent[]> = await list(next, { key });
      assert.ok(page.body.length > 0, `${next} is empty`);
      found.push(...page.body);
      requests += 1;
      next = nextOf(page);
      if (next !== undefined) assert.equal(new URLSearchParams(next).get("after"), String(found.at(-1)?.position));
    }
    const wanted = query.includes("types") ? all.filter(({ type }) => /^(pet|category)\./.test(type)) : all;
    assert.deepEqual(found, wanted, query);
    assert.equal(requests, Math.ceil(wanted.length / Number(new URLSearchParams(query).get("limit"))), query);
  }
  const newest = all.at(-1)!.position;
  for (const query of [`?after=${newest}`, `?limit=${all.length}`, "?types=order.*", `?after=${newest - 1}&wait=1&limit=1`]) {
    assert.equal((await list(query, { key })).headers.get("link"), null, query);
  }
  const client = openClient({ url: service.address, key });
  const read = await Array.fromAsync(rows(client, "/events", { limit: 3 }), ({ position }) => position);
  assert.deepEqual(
    read,
    all.map(({ position }) => position),
  );
});

test("positions beyond the newest event, unknown types and other bad input are a 400 that says what is allowed", async () => {
  const { key } = await openShop(0);
  const newest = (await service.ask<{ position: number }>("GET", "/events/checkpoint", { key })).body.position;
  assert.equal((await list(`?after=${newest}`, { key })).status, 200);
  for (const query of [`?after=${newest + 1}`, `/stream?after=${newest + 1}`, `/checkpoint?position=${newest + 1}`]) {
    const { status, body } = await list<Failure>(query, { key });
    assert.deepEqual([status, body.code], [400, "invalid_request"], query);
    assert.match(body.message, new RegExp(`at most ${newest}`));
  }
  const ahead = await list<Failure>("/stream", { key, headers: { "last-event-id": `${newest + 1}` } });
  assert.deepEqual([ahead.status, ahead.body.code], [400, "invalid_request"]);
  for (const query of [
    "?types=pet",
    "?types=*",
    "?types=pet.gone",
    "?types=",
    "?after=-1",
    "?limit=0",
    "?limit=101",
    "?wait=31",
    "?from=1",
  ]) {
    assert.equal((await list(query, { key })).status, 400, query);
  }
  for (const id of ["-1", "x", "1e3", "9".repeat(20)]) {
    assert.equal((await list("/stream?wait=0", { key, headers: { "last-event-id": id } })).status, 400, id);
  }
});

test("a position before the oldest event that is kept is a 410 with that position", async () => {
  const { id, key } = await openShop(4);
  const { body: at2 } = await service.ask<{ hash: string }>("GET", "/events/checkpoint?position=2", { key });
  await service.db.write(async (tx) => {
    await tx.query(sql`INSERT INTO event_starts (account_id, position, previous_hash) VALUES (${id}, 3, ${at2.hash})`);
    await tx.query(sql`DELETE FROM events WHERE account_id = ${id} AND position < 3`);
  });
  for (const query of ["?after=0", "?after=1", "/stream?after=0", "/checkpoint?position=1"]) {
    const { status, headers, body } = await list<Failure>(query, { key });
    assert.deepEqual([status, body.code, headers.get("events-oldest")], [410, "events_expired", "3"], query);
  }
  const late = await list<Failure>("/stream", { key, headers: { "last-event-id": "1" } });
  assert.deepEqual([late.status, late.headers.get("events-oldest")], [410, "3"]);
  assert.equal((await list("?after=2", { key })).body[0]!.position, 3);
  const kept = (await list("", { key })).body;
  const { body: checkpoint } = await service.ask<{ oldest: { position: number; previousHash: string } }>(
    "GET",
    "/events/checkpoint?position=2",
    { key },
  );
  assert.deepEqual(checkpoint.oldest, { position: 3, previousHash: at2.hash });
  requireWhole(kept, checkpoint.oldest);
});

test("with wait, a request is answered when an event comes, or with an empty list when the time is over", async () => {
  const { key, add } = await openShop(1);
  const { position } = (await service.ask<{ position: number }>("GET", "/events/checkpoint", { key })).body;
  const waiting = list(`?after=${position}&wait=30`, { key });
  const filtered = list(`?after=${position}&wait=1&types=order.*`, { key });
  const { id } = await add();
  assert.deepEqual(
    (await waiting).body.map(({ resource }) => resource.id),
    [id],
  );
  assert.deepEqual((await filtered).body, []);
});

test("a stream sends events as they happen, resumes after Last-Event-ID, and ends when it was asked to", async () => {
  const { key, add } = await openShop(2);
  const live = await readStream(key, "", 2);
  assert.equal(live.response.headers.get("content-type"), "text/event-stream");
  const made = [await add(), await add()];
  await live.finished;
  assert.deepEqual(
    live.events.map(({ resource }) => resource.id),
    made.map(({ id }) => id),
  );
  const rest = await readStream(key, "?wait=0", Infinity, { "last-event-id": String(live.events[0]!.position) });
  await rest.finished;
  assert.deepEqual(rest.events, live.events.slice(1));
  const all = await readStream(key, "?after=0&wait=0");
  await all.finished;
  requireWhole(all.events);
  const refused = await service.ask("GET", "/events/stream", { key, headers: { accept: "image/png" } });
  assert.equal(refused.status, 406);
});

test("an account has at most 20 streams, those of other accounts do not count, and revoking the key ends them", async () => {
  const { key, id } = await openShop(0);
  const other = await openShop(0);
  const streams = await Promise.all(Array.from({ length: 20 }, () => readStream(key)));
  assert.ok(streams.every(({ response }) => response.status === 200));
  const refused = await service.ask<Failure>("GET", "/events/stream", { key });
  assert.deepEqual([refused.status, refused.body.code], [503, "unavailable"]);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  const owner = await newMember(service, { account: id, email: "owner@streams.example", role: "owner" });
  assert.equal((await owner.ask("GET", "/events/stream")).status, 503, "those of the dashboard count too");
  const foreign = await readStream(other.key, "?wait=0");
  await foreign.finished;
  assert.equal(foreign.response.status, 200);
  const { keys } = await service.administration["keys.list"]({ account: id });
  await service.administration["keys.revoke"]({ id: keys[0]!.id });
  await Promise.all(streams.map(({ finished }) => finished));
});

test("a key needs the scope of events, and publishable keys never have it", async () => {
  const { id } = await openShop(0);
  const create = service.administration["keys.create"];
  const { key } = await create({ account: id, scopes: ["catalogue:read"] });
  for (const path of ["", "/stream", "/checkpoint"]) assert.equal((await list(path, { key })).status, 403, path);
  const reader = await create({ account: id, scopes: ["events:read"] });
  assert.equal((await list("", { key: reader.key })).status, 200);
  await assert.rejects(create({ account: id, publishable: true, scopes: ["events:read"] }));
});

test("the oldest events are deleted first, those of the audit later, and the rest of the log can still be proved", async () => {
  const { id, key, add } = await openShop(3);
  await service.administration["keys.create"]({ account: id });
  await add();
  await allNumbered(service.db);
  const listed = (await list("", { key })).body;
  const dayMs = 86_400_000;
  const kept = { eventDaysKept: 30, auditDaysKept: 365 };
  const types = () => service.db.query<{ type: string }>(sql`SELECT type FROM events WHERE account_id = ${id} ORDER BY position`);
  await expireEvents(service.db, Date.now() + 29 * dayMs, kept);
  assert.equal((await types()).length, listed.length);
  await expireEvents(service.db, Date.now() + 31 * dayMs, kept);
  const newest = listed.at(-1)!;
  assert.deepEqual((await list("", { key })).body, [newest]);
  const { body: checkpoint } = await service.ask<{ oldest: { position: number; previousHash: string } }>("GET", "/events/checkpoint", {
    key,
  });
  requireWhole([newest], checkpoint.oldest);
  assert.deepEqual(
    (await types()).map(({ type }) => type),
    ["key.created", "key.created", "pet.created"],
  );
  assert.equal((await list("?after=0", { key })).status, 410);
  await expireEvents(service.db, Date.now() + 366 * dayMs, kept);
  assert.deepEqual(
    (await types()).map(({ type }) => type),
    ["pet.created"],
  );
  const { id: next } = await add();
  await allNumbered(service.db);
  assert.deepEqual((await list("", { key })).body.map(({ position, resource }) => [position, resource.id]).at(-1), [
    newest.position + 1,
    next,
  ]);
});
