import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { loggedEvents } from "./support/event-log.ts";
import type { Failure } from "./support/models.ts";
import { startService, unlimited, type Reply, type TestService } from "./support/service.ts";

const hourMs = 3_600_000;
const now = Date.UTC(2027, 0, 1);
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => now, env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
after(() => shop.close());

type Made = {
  id: number;
  name: string;
  key?: string;
  notice?: string;
  scopes: string[];
  expiresAt: string | null;
  replaces: number | null;
};
type Answer = Made & Failure & { previous?: { id: number; expiresAt: string } };
type Listed = { id: number; prefix: string; bannedUntil: string | null };
type Terms = { scopes?: string[]; expires?: string; publishable?: boolean; origins?: string[]; name?: string };

/** An account, and a key of it that manages keys and may do what `more` says. */
async function openAccount(terms: Terms = {}, more = ["catalogue:read", "orders:read"]) {
  const { account: opened, key: first } = await shop.administration["accounts.create"]({ name: "Shop", plan: "enterprise", ...unlimited });
  const account = opened.id;
  const newKey = (asked: Terms = {}) => shop.administration["keys.create"]({ account, ...asked });
  const { id, key } = await newKey({ scopes: [...more, "keys:read", "keys:write"], ...terms });
  const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    shop.ask<Answer>(method, path, { key, ...(body !== undefined && { body }), ...(headers && { headers }) });
  const create = (body: Terms = {}) => send("POST", "/keys", body);
  const list = async () => (await shop.ask<Listed[]>("GET", "/keys?limit=100", { key })).body;
  return { account, first, id, key, newKey, send, create, list };
}
const statusWith = async (key: string, path = "/pets") => (await shop.ask("GET", path, { key })).status;
const codeOf = ({ status, body }: { status: number; body: Failure }) => [status, body.code];

test("a key that manages keys creates, lists, rotates and revokes others, and each event says which key acted", async () => {
  const { account, id, send, create, list } = await openAccount();
  const { status, body: made } = await create({ name: "Till", scopes: ["catalogue:read"] });
  assert.equal(status, 201);
  assert.deepEqual([made.name, made.scopes, made.expiresAt, made.replaces], ["Till", ["catalogue:read"], null, null]);
  assert.deepEqual([await statusWith(made.key!), await statusWith(made.key!, "/store/orders")], [200, 403]);

  const { status: rotatedStatus, body: next } = await send("POST", `/keys/${made.id}/rotate`, { overlapHours: 1 });
  assert.deepEqual([rotatedStatus, next.name, next.replaces, next.previous?.id], [201, "Till", made.id, made.id]);
  assert.equal(Date.parse(next.previous!.expiresAt), now + hourMs);
  assert.deepEqual([await statusWith(made.key!), await statusWith(next.key!)], [200, 200]);
  assert.equal((await send("DELETE", `/keys/${next.id}`)).status, 204);
  assert.equal(await statusWith(next.key!), 401);

  const listed = await list();
  assert.ok(listed.some((one) => one.id === made.id) && !listed.some((one) => one.id === next.id));
  assert.ok(!JSON.stringify(listed).includes(made.key!) && listed.every((one) => one.prefix.length === 8));
  const events = (await loggedEvents(shop.db, account)).filter(({ type, actor }) => type.startsWith("key.") && actor.type === "key");
  assert.deepEqual(
    events.map(({ type, actor, resource }) => [type, actor.id, resource.id]),
    [
      ["key.created", id, made.id],
      ["key.rotated", id, made.id],
      ["key.created", id, next.id],
      ["key.revoked", id, next.id],
    ],
  );
});

test("the list of keys has pages", async () => {
  const { key, create, list } = await openAccount();
  await create();
  const ids: number[] = [];
  for (let path: string | undefined = "/keys?limit=1"; path !== undefined;) {
    const reply: Reply<Listed[]> = await shop.ask("GET", path, { key });
    ids.push(...reply.body.map((one) => one.id));
    path = /<\/v1([^>]+)>; rel="next"/.exec(reply.headers.get("link") ?? "")?.[1];
  }
  assert.deepEqual(
    ids,
    (await list()).map((one) => one.id),
  );
  assert.equal(ids.length, 3);
});

test("no key gets the scopes that manage keys unless a member or the operator names them", async () => {
  const { first, newKey, create } = await openAccount();
  for (const { key } of [{ key: first }, await newKey()]) {
    assert.deepEqual(codeOf(await shop.ask<Failure>("GET", "/keys", { key })), [403, "forbidden"]);
    assert.deepEqual(codeOf(await shop.ask<Failure>("POST", "/keys", { key, body: {} })), [403, "forbidden"]);
  }
  for (const scope of ["keys:read", "keys:write"]) assert.deepEqual(codeOf(await create({ scopes: [scope] })), [403, "forbidden"]);
  await assert.rejects(newKey({ publishable: true, scopes: ["keys:read"] }), /cannot have keys:read/);
});

test("what a new key leaves out follows the key that makes it: its scopes except those for keys, and its expiry", async () => {
  const expires = "2027-06-01T00:00:00Z";
  const { create } = await openAccount({ expires });
  const { body } = await create();
  assert.deepEqual([body.scopes, body.expiresAt], [["catalogue:read", "orders:read"], expires]);
  assert.deepEqual((await create({ publishable: true, origins: ["https://shop.example"] })).body.scopes, ["catalogue:read"]);
});

test("a key creates none that may do more or lives longer than it, and makes nothing where it is refused", async () => {
  const { create, list } = await openAccount({ expires: "2027-06-01" });
  const earlier = await list();
  for (const terms of [
    { scopes: ["orders:write"] },
    { scopes: ["catalogue:read", "inventory:read"] },
    { expires: "2027-06-02" },
    { publishable: true, scopes: ["inventory:read"] },
  ])
    assert.deepEqual(codeOf(await create(terms)), [403, "forbidden"], JSON.stringify(terms));
  for (const terms of [
    { expires: "2026-01-01" },
    { scopes: [] },
    { origins: ["https://shop.example"] },
    { publishable: true, scopes: ["orders:read"] },
  ])
    assert.equal((await create(terms)).status, 400, JSON.stringify(terms));
  assert.deepEqual(
    (await list()).map(({ id }) => id),
    earlier.map(({ id }) => id),
  );
  const onlyKeys = await openAccount({}, []);
  assert.deepEqual(codeOf(await onlyKeys.create()), [403, "forbidden"]);
});

test("a key rotates and revokes only keys whose scopes and expiry lie within its own, and of its account", async () => {
  const { key, id, newKey, send, list } = await openAccount({ expires: "2027-06-01" });
  const wider = await newKey({ scopes: ["orders:write"], expires: "2027-05-01" });
  const longer = await newKey({ scopes: ["catalogue:read"] });
  const manager = await newKey({ scopes: ["keys:read"], expires: "2027-05-01" });
  const stranger = await openAccount();
  for (const { id: target } of [wider, longer]) {
    assert.deepEqual(codeOf(await send("POST", `/keys/${target}/rotate`)), [403, "forbidden"]);
    assert.deepEqual(codeOf(await send("DELETE", `/keys/${target}`)), [403, "forbidden"]);
  }
  for (const target of [manager.id, id]) assert.deepEqual(codeOf(await send("POST", `/keys/${target}/rotate`, {})), [403, "forbidden"]);
  for (const target of [stranger.id, 999_999]) {
    assert.deepEqual(codeOf(await send("POST", `/keys/${target}/rotate`)), [404, "not_found"]);
    assert.deepEqual(codeOf(await send("DELETE", `/keys/${target}`)), [404, "not_found"]);
  }
  assert.equal((await list()).length, 5);
  assert.equal((await send("DELETE", `/keys/${manager.id}`)).status, 204);
  assert.equal((await send("DELETE", `/keys/${id}`)).status, 204, "itself");
  assert.equal(await statusWith(key), 401);
});

test("a key is rotated once by keys: its second rotation is a 409, and makes no second successor", async () => {
  const { send, create, list } = await openAccount();
  const { body: made } = await create();
  const replies = await Promise.all([1, 2].map(() => send("POST", `/keys/${made.id}/rotate`)));
  assert.deepEqual(replies.map(({ status }) => String(status)).toSorted(), ["201", "409"]);
  assert.deepEqual(codeOf(await send("POST", `/keys/${made.id}/rotate`)), [409, "key_replaced"]);
  assert.equal((await list()).length, 4);
});

test("a replay shows the new key without its secret and says so, and no stored answer has it", async () => {
  const { send, list } = await openAccount();
  for (const [path, body] of [["/keys", { name: "Till" }] as const, [undefined, {}] as const]) {
    const target = path ?? `/keys/${(await list()).at(-1)!.id}/rotate`;
    const headers = { "idempotency-key": target };
    const first = await send("POST", target, body, headers);
    const again = await send("POST", target, body, headers);
    const { key, ...shown } = first.body;
    assert.match(key ?? "", /^psk_/);
    const { notice, ...replayed } = again.body;
    assert.deepEqual([again.status, again.headers.get("idempotent-replayed"), replayed], [201, "true", shown]);
    assert.match(notice ?? "", /not stored/);
    const stored = await shop.db.query(sql`SELECT * FROM idempotency`);
    assert.ok(stored.length > 0 && !JSON.stringify(stored).includes(key ?? ""));
  }
});

test("keys make at most 100 live keys of an account; what exists beyond keeps working, and members and the operator may make more", async () => {
  const { account, newKey, create, send } = await openAccount();
  const { body: made } = await create();
  for (let i = 3; i < 100; i++) await newKey({ scopes: ["catalogue:read"] });
  assert.deepEqual(codeOf(await create()), [400, "invalid_request"]);
  assert.deepEqual(codeOf(await send("POST", `/keys/${made.id}/rotate`)), [400, "invalid_request"], "the old key would still live");
  assert.equal((await send("POST", `/keys/${made.id}/rotate`, { overlapHours: 0 })).status, 201);
  assert.equal(await statusWith((await newKey({ scopes: ["catalogue:read"] })).key), 200);
  const { keys } = await shop.administration["keys.list"]({ account });
  const live = keys.map(({ id }) => id).filter((id) => id !== made.id);
  assert.equal(live.length, 101);
  for (const id of live.slice(-2)) assert.equal((await send("DELETE", `/keys/${id}`)).status, 204);
  assert.equal((await create()).status, 201);
});

test("a ban of a key counts for the keys that it made and their successors, and ends for all of them at once", async () => {
  const { id: account } = await shop.newAccount("enterprise", { perMinute: 30, perDay: 1_000 });
  const { id, key } = await shop.administration["keys.create"]({ account, scopes: ["catalogue:read", "keys:read", "keys:write"] });
  const { key: watcher } = await shop.administration["keys.create"]({ account });
  const { body: child } = await shop.ask<Made>("POST", "/keys", { key, body: {} });
  const { body: next } = await shop.ask<Made>("POST", `/keys/${child.id}/rotate`, { key });
  const codeWith = async (one: string) => (await shop.ask<Failure>("GET", "/pets", { key: one })).body.code;
  for (let i = 0; i < 49; i++) await codeWith(key);
  assert.equal(await codeWith(key), "key_banned");
  for (const one of [child.key!, next.key!]) assert.equal(await codeWith(one), "key_banned");
  assert.equal(await codeWith(watcher), "rate_limit_exceeded", "which it did not make");
  assert.deepEqual(await shop.administration["keys.unban"]({ id: next.id }).then(({ unbanned }) => unbanned), true);
  for (const one of [key, child.key!]) assert.equal(await codeWith(one), "rate_limit_exceeded");
  assert.ok(id < child.id);
});

test("a key that is revoked while its request runs makes no key", async () => {
  const { id, create, newKey } = await openAccount();
  const { key: other } = await newKey({ scopes: ["catalogue:read", "orders:read", "keys:read", "keys:write"] });
  const [revoked, ...made] = await Promise.all([
    shop.ask("DELETE", `/keys/${id}`, { key: other }),
    ...Array.from({ length: 5 }, () => create()),
  ]);
  assert.equal(revoked.status, 204);
  for (const { status } of made) assert.ok([201, 401].includes(status));
  assert.equal((await create()).status, 401);
});
