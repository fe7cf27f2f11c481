import assert from "node:assert/strict";
import { test } from "node:test";
import { loggedEvents } from "./support/event-log.ts";
import { askUntil, codeOf, list, openScene, remaining, type Account } from "./support/limited-requests.ts";
import { ask } from "./support/service.ts";
import { until } from "./support/until.ts";

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

test("each further ban within 24 hours lasts twice as long, at most an hour; a later one starts at 5 minutes again", async (t) => {
  const { time, service } = await openScene(t);
  const { key } = await service.newAccount("enterprise", { perMinute: 1, perDay: 1_000_000 });
  const banSeconds = async () => {
    time.now += minuteMs;
    return Number((await askUntil(service, key, "key_banned")).headers.get("retry-after"));
  };
  for (const seconds of [300, 600, 1_200, 2_400, 3_600, 3_600]) {
    assert.equal(await banSeconds(), seconds);
    time.now += seconds * secondMs;
  }
  time.now += 24 * hourMs;
  assert.equal(await banSeconds(), 300);
});

test("a ban ends on the second, and requests during it use no quota and add no strikes", async (t) => {
  const { time, service } = await openScene(t);
  const { id, key } = await service.newAccount("free");
  const other = await service.administration["keys.create"]({ account: id, scopes: ["account:read"] });
  const reply = await askUntil(service, key, "key_banned");
  assert.equal(reply.headers.get("x-ratelimit-strikes-remaining"), "0");
  for (let i = 0; i < 30; i++) assert.equal((await list(service, key)).status, 429);
  time.now += 5 * minuteMs - 1;
  assert.equal(codeOf(await list(service, key)), "key_banned");
  const { body } = await service.ask<Account>("GET", "/account", { key: other.key });
  assert.equal(body.day.used, 61);
  time.now += 1;
  assert.equal((await list(service, key)).status, 200);
});

test("an account sees its bans with another key, and keys unban ends one at once", async (t) => {
  const { service } = await openScene(t);
  const { id, key } = await service.newAccount("enterprise", { perMinute: 5, perDay: 1_000 });
  const other = await service.administration["keys.create"]({ account: id });
  const stranger = await service.newAccount("free");
  await askUntil(service, key, "key_banned");
  const agreed = { plan: "enterprise", perMinute: 100, perDay: 1_000 };
  await service.administration["accounts.setPlan"]({ id, ...agreed });

  const account = (asked: string) => service.ask<Account>("GET", "/account", { key: asked });
  const { keys } = await service.administration["keys.list"]({ account: id });
  const [bannedKey] = keys;
  assert.deepEqual((await account(other.key)).body.bans, [{ keyId: bannedKey?.id, until: "2026-06-15T12:05:00Z" }]);
  assert.deepEqual((await account(stranger.key)).body.bans, []);

  const noted = async () => (await loggedEvents(service.db, id)).filter(({ type }) => /^key\.(un)?banned$/.test(type));
  await until(async () => (await noted()).length === 1);
  assert.equal((await service.administration["keys.unban"]({ id: bannedKey?.id })).unbanned, true);
  assert.equal((await service.administration["keys.unban"]({ id: bannedKey?.id })).unbanned, false);
  assert.deepEqual(
    (await noted()).map(({ type, actor, data }) => [type, actor.type, data["id"]]),
    [
      ["key.banned", "system", bannedKey?.id],
      ["key.unbanned", "operator", bannedKey?.id],
    ],
  );
  assert.equal((await list(service, key)).status, 200);
  assert.deepEqual((await account(other.key)).body.bans, []);
  assert.equal((await account(key)).body.key.strikes, 0);
});

test("a used-up day refuses requests until midnight UTC, even if the minute has some left", async (t) => {
  const { time, service } = await openScene(t);
  const { key } = await service.newAccount("enterprise", { perMinute: 100, perDay: 10 });
  for (let i = 0; i < 10; i++) assert.equal((await list(service, key)).status, 200);
  const refused = await list(service, key);
  assert.equal(codeOf(refused), "rate_limit_exceeded");
  assert.equal(refused.headers.get("retry-after"), String(12 * 3_600));
  assert.equal(refused.headers.get("x-ratelimit-limit"), "10");
  time.now = Date.UTC(2026, 5, 16) - 1;
  assert.equal((await list(service, key)).status, 429);
  time.now += 1;
  assert.equal((await list(service, key)).status, 200);
});

test("a clock that jumps an hour forward and back grants no window twice and locks nobody out", async (t) => {
  const { time, service } = await openScene(t);
  const { key } = await service.newAccount("free");
  for (let i = 0; i < 60; i++) await list(service, key);
  time.now += hourMs;
  assert.equal((await list(service, key)).status, 200);
  time.now -= hourMs;
  assert.equal((await list(service, key)).status, 429);
  time.now += minuteMs;
  assert.equal((await list(service, key)).status, 200);
});

test("thousands of addresses are counted separately and do not affect a valid key", async (t) => {
  const { service } = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1" });
  const from = (address: string) => ask(`${service.address}/v1/pets`, "GET", { headers: { "x-forwarded-for": address } });
  for (let block = 0; block < 50; block++) {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => from(`203.0.${block}.${i}`)));
    for (const reply of replies) assert.deepEqual([reply.status, remaining(reply)], [401, 59]);
  }
  for (let i = 0; i < 59; i++) assert.equal((await from("203.0.0.0")).status, 401);
  const limited = await from("203.0.0.0");
  assert.equal(codeOf(limited), "rate_limit_exceeded");
  assert.equal((await from("203.0.0.1")).status, 401);
  const good = await service.ask("GET", "/categories", { headers: { "x-forwarded-for": "203.0.0.0" } });
  assert.equal(good.status, 200);
});

test("an address has one window whatever port a proxy adds to it, and an invalid address counts on the proxy", async (t) => {
  const { service } = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" });
  const left = async (forwarded: string) =>
    remaining(await ask(`${service.address}/v1/pets`, "GET", { headers: { "x-forwarded-for": forwarded } }));
  const addresses = ["203.0.113.1:4711", "203.0.113.1", "203.0.113.1:4712", "203.0.113.1:4713, 10.0.0.1:99"];
  for (const [i, one] of addresses.entries()) assert.equal(await left(one), 59 - i, one);
  for (const [i, one] of ["[2001:db8::1]:80", "2001:db8::2", "[2001:db8::3]"].entries()) assert.equal(await left(one), 59 - i, one);
  for (const [i, one] of ["unknown", "203.0.113.300", "x".repeat(99), "203.0.113.9, nonsense"].entries()) {
    assert.equal(await left(one), 59 - i, one);
  }
  assert.equal(await left("nonsense, 10.0.0.1"), 59, "the nearest proxy that names something is 10.0.0.1");
  assert.equal(await left("203.0.113.9"), 59);
});

test("an invalid key gets 401 while its address has requests left, and then a 429 that says a valid key is needed", async (t) => {
  const { service } = await openScene(t, { TRUSTED_PROXIES: "127.0.0.1" });
  const send = () =>
    service.ask<{ code: string; message: string }>("GET", "/pets", { key: "psk_typo", headers: { "x-forwarded-for": "203.0.113.1" } });
  for (let i = 0; i < 60; i++) assert.equal((await send()).body.code, "unauthorized");
  const { status, body, headers } = await send();
  assert.deepEqual([status, body.code, headers.get("x-ratelimit-strikes-remaining")], [429, "rate_limit_exceeded", null]);
  assert.match(body.message, /valid API key/);
});
