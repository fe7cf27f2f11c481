import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { Webhook as Verifier } from "standardwebhooks";
import { logStart, readEvents, eventJson } from "../src/events/log/events.store.ts";
import type { Delivery, Webhook } from "../src/events/webhooks/webhooks.ts";
import type { EventType } from "../src/platform/event-types.ts";
import { allNumbered } from "./support/event-log.ts";
import type { Failure } from "./support/models.ts";
import { startService, unlimited, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { until } from "./support/until.ts";
import { openScene, names } from "./support/webhook-scene.ts";
import { type Got, type Receiver, type WithSecret } from "./support/webhooks.ts";

const dayMs = 86_400_000;
/** Begins now, because the package `standardwebhooks` refuses other times. */
const time = { now: Date.now() };
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => time.now, env: { WEBHOOK_PRIVATE_ADDRESSES: "on" } });
});
after(() => shop.close());

/** The events of an account's log as the API shows them, once none waits for its position. */
async function eventsOf(accountId: number, types: EventType[]): Promise<Record<string, unknown>[]> {
  await allNumbered(shop.db);
  const events = await readEvents(shop.db, accountId, { after: 0, limit: 100, types });
  return events.map((event) => JSON.parse(eventJson(event)) as Record<string, unknown>);
}
const failing =
  (status: number, headers = {}) =>
  (_: Got, response: Parameters<Receiver["answer"]>[1]) =>
    void response.writeHead(status, headers).end("no");
const accepting: Receiver["answer"] = (_, response) => void response.end("yes");

test("an event of a chosen type is delivered as the log shows it, signed, and listed by its request", async (t) => {
  const { receiver, webhook, ask, at, newCategory, key, accountId, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
  receiver.answer = accepting;
  const headers = { "x-request-id": "a-request" };
  await shop.ask("POST", "/categories", { key, body: { name: "Cats 🐈" }, headers });
  await made(shop, "POST", "/store/orders", {}, key);
  await newCategory("Dogs");
  await until(() => receiver.got.length >= 2);
  const [first] = receiver.got;
  const verified = new Verifier(webhook.secret).verify(first!.text, first!.headers as Record<string, string>);
  assert.deepEqual(verified, first!.body);
  const events = await eventsOf(accountId, ["category.created"]);
  assert.deepEqual(first!.body, { ...events[0], timestamp: events[0]!["at"] });
  assert.equal(first!.headers["webhook-id"], events[0]!["id"]);
  assert.equal(first!.headers["content-type"], "application/json");
  const delivered = await untilHave("delivered", 2);
  const [one, ...others] = (await ask<Delivery[]>("GET", `${at}/deliveries?requestId=a-request`)).body;
  assert.deepEqual(others, []);
  assert.deepEqual([one?.messageId, one?.position, one?.type], [events[0]!["id"], events[0]!["position"], "category.created"]);
  assert.equal(delivered.length, 2);
  const { body: details } = await ask<Delivery & { requestBody: string; responseBody: string }>("GET", `${at}/deliveries/${one!.id}`);
  assert.deepEqual([details.requestBody, details.responseBody, details.responseStatus], [first!.text, "yes", 200]);
});

test("a rotated secret signs beside the earlier one for a day, and alone after it", async (t) => {
  const { receiver, webhook, newCategory, ask, at } = await openScene(t, shop);
  const { body: rotated, status } = await ask<WithSecret>("POST", `${at}/rotate`);
  assert.equal(status, 200);
  assert.notEqual(rotated.secret, webhook.secret);
  const verifies = ({ text, headers }: Got, secret: string) => {
    try {
      new Verifier(secret).verify(text, { ...headers } as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
  const nextGot = async (name: string) => {
    await newCategory(name);
    await until(() => names(receiver).includes(name));
    return receiver.got.find(({ body }) => body.data["name"] === name)!;
  };
  const during = await nextGot("During");
  assert.deepEqual([verifies(during, rotated.secret), verifies(during, webhook.secret)], [true, true]);
  assert.equal(String(during.headers["webhook-signature"]).split(" ").length, 2);
  time.now += dayMs + 60_000;
  assert.equal(String((await nextGot("After")).headers["webhook-signature"]).split(" ").length, 1);
});

test("a failed message is tried again after five seconds with the same id, and the endpoint's health shows it", async (t) => {
  const { receiver, newCategory, now, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
  receiver.answer = failing(500);
  await newCategory("Cats");
  const [failed] = await untilHave("pending", 1);
  assert.deepEqual([failed!.responseStatus, failed!.error, failed!.attempts], [500, "The endpoint answered 500.", 1]);
  const pause = Date.parse(failed!.nextAttemptAt!) - time.now;
  assert.ok(pause >= 5_000 && pause <= 6_000, String(pause));
  assert.notEqual((await now()).failingSince, null);
  receiver.answer = accepting;
  time.now += pause + 1_000;
  const [delivered] = await untilHave("delivered", 1);
  assert.deepEqual([delivered!.id, delivered!.attempts, delivered!.error], [failed!.id, 2, null]);
  assert.equal(receiver.got[0]!.headers["webhook-id"], receiver.got[1]!.headers["webhook-id"]);
  assert.notEqual(receiver.got[0]!.headers["webhook-timestamp"], receiver.got[1]!.headers["webhook-timestamp"]);
  assert.deepEqual([(await now()).failingSince, (await now()).deliveredPosition], [null, delivered!.position]);
});

test("an endpoint that asks for a pause gets nothing until it is over", async (t) => {
  const { receiver, newCategory, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
  receiver.answer = failing(429, { "retry-after": "3600" });
  await newCategory("Cats");
  await untilHave("pending", 1);
  receiver.answer = accepting;
  await newCategory("Dogs");
  time.now += 1_800_000;
  const elsewhere = await openScene(t, shop);
  await elsewhere.newCategory("Other");
  await elsewhere.until("delivered", 1);
  assert.equal(receiver.got.length, 1);
  time.now += 1_801_000;
  await untilHave("delivered", 2);
  assert.deepEqual([names(receiver).length, new Set(names(receiver))], [3, new Set(["Cats", "Dogs"])]);
});

test("an endpoint that answers 410 is disabled at once, with an event; it continues from its position when it is enabled again", async (t) => {
  const { receiver, accountId, newCategory, now, ask, at, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
  receiver.answer = failing(410);
  await newCategory("Cats");
  await until(async () => !(await now()).enabled);
  assert.equal((await now()).disabledBecause, "gone");
  const [event] = await eventsOf(accountId, ["webhook.disabled"]);
  assert.deepEqual(
    [event!["actor"], event!["previous"]],
    [
      { id: null, type: "system" },
      { disabledBecause: null, enabled: true },
    ],
  );
  assert.equal((await untilHave("failed", 1))[0]!.nextAttemptAt, null);
  await newCategory("Dogs");
  receiver.answer = accepting;
  assert.equal((await ask<Webhook>("PATCH", at, { enabled: true })).body.disabledBecause, null);
  await untilHave("delivered", 1);
  assert.deepEqual(names(receiver), ["Cats", "Dogs"]);
});

test("five days of failures only disable an endpoint; a replay from the last success recovers what it missed", async (t) => {
  const { receiver, newCategory, now, ask, at, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
  receiver.answer = accepting;
  await newCategory("Before");
  await untilHave("delivered", 1);
  receiver.answer = failing(503);
  await newCategory("Missed 1");
  await untilHave("pending", 1);
  for (let day = 1; day <= 4; day++) {
    time.now += dayMs;
    const earlier = receiver.got.length;
    await newCategory(`Missed ${day + 1}`);
    await until(() => receiver.got.length > earlier);
  }
  assert.equal((await now()).enabled, true);
  const [given] = await untilHave("failed", 1);
  assert.equal(given!.nextAttemptAt, null);
  time.now += dayMs + 60_000;
  await until(async () => !(await now()).enabled);
  const { disabledBecause, deliveredPosition } = await now();
  assert.equal(disabledBecause, "failing");
  receiver.answer = accepting;
  receiver.got.length = 0;
  await ask("PATCH", at, { enabled: true });
  await ask("POST", `${at}/replay`, { after: deliveredPosition });
  await until(() => new Set(names(receiver)).size === 5);
  assert.ok(!names(receiver).includes("Before"));
});

test("an ordered endpoint gets one message at a time; a failing one blocks the others until it is delivered, or skipped after three days", async (t) => {
  const { receiver, newCategory, until: untilHave, deliveries } = await openScene(t, shop, { types: ["category.*"], ordered: true });
  receiver.answer = (got, response) => (got.body.data["name"] === "2" ? failing(500)(got, response) : accepting(got, response));
  for (const name of ["1", "2", "3", "4"]) await newCategory(name);
  await untilHave("pending", 1);
  assert.deepEqual(names(receiver), ["1", "2"]);
  for (let tries = 3; tries <= 13; tries++) {
    const [blocking] = await deliveries("&status=pending");
    time.now = Date.parse(blocking!.nextAttemptAt!) + 1_000;
    await until(() => receiver.got.length >= tries);
    await until(async () => ((await deliveries())[0]?.attempts ?? 0) >= tries - 1 || (await deliveries("&status=failed")).length > 0);
  }
  assert.deepEqual(new Set(names(receiver)), new Set(["1", "2"]));
  const [blocking] = await deliveries("&status=pending");
  time.now = Date.parse(blocking!.nextAttemptAt!) + 1_000;
  await untilHave("delivered", 3);
  assert.deepEqual(names(receiver).slice(-2), ["3", "4"]);
  assert.equal((await untilHave("failed", 1))[0]!.messageId, blocking!.messageId);
});

test("a replay sends the events after a position again with their ids, and refuses positions beyond the log", async (t) => {
  const { receiver, newCategory, ask, at, accountId, until: untilHave } = await openScene(t, shop, { types: ["category.created"] });
  for (const name of ["1", "2", "3"]) await newCategory(name);
  await untilHave("delivered", 3);
  const ids = receiver.got.map(({ headers }) => headers["webhook-id"]);
  const [, second] = receiver.got;
  const { status, body } = await ask<Webhook>("POST", `${at}/replay`, { after: second!.body.position });
  assert.deepEqual([status, body.position], [200, second!.body.position]);
  await until(() => receiver.got.length === 4);
  assert.equal(receiver.got[3]!.headers["webhook-id"], ids[2]);
  assert.equal((await untilHave("delivered", 3)).length, 3);
  const beyond = await ask<Failure>("POST", `${at}/replay`, { after: 9_999 });
  assert.deepEqual([beyond.status, beyond.body.details?.[0]?.path], [400, "body.after"]);
  await shop.db.write((tx) => tx.query(sql`INSERT INTO event_starts (account_id, position, previous_hash) VALUES (${accountId}, 3, 'x')`));
  const expired = await shop.ask<Failure>("POST", `${at}/replay`, {
    key: receiver.got[0] ? await keyOf(accountId) : "",
    body: { after: 1 },
  });
  assert.deepEqual([expired.status, expired.body.code, expired.headers.get("events-oldest")], [410, "events_expired", "3"]);
});

const keyOf = async (account: number) => (await shop.administration["keys.create"]({ account })).key;

test("an endpoint whose events were deleted before it got them continues with the oldest that is kept, and a failed delivery lists them", async (t) => {
  const { receiver, newCategory, ask, at, accountId, now, until: untilHave } = await openScene(t, shop, { types: ["category.created"] });
  await ask("PATCH", at, { enabled: false });
  for (const name of ["1", "2", "3"]) await newCategory(name);
  const created = await eventsOf(accountId, ["category.created"]);
  assert.equal(created.length, 3);
  const oldest = Number(created[2]!["position"]);
  const keep = (eventBytes: number) =>
    shop.administration["accounts.setPlan"]({ id: accountId, plan: "enterprise", ...unlimited, eventBytes });
  await keep(0);
  await until(async () => (await logStart(shop.db, accountId)).position === oldest);
  await keep(1_000_000); // or the next event would displace the oldest
  await ask("PATCH", at, { enabled: true });
  await until(() => names(receiver).includes("3"));
  assert.deepEqual(names(receiver), ["3"]);
  const [expired, ...others] = await untilHave("failed", 1);
  assert.deepEqual([expired?.type, expired?.position, expired?.attempts, others], ["webhook.expired", oldest - 1, 0, []]);
  assert.match(expired?.error ?? "", new RegExp(`^Events \\d+ to ${oldest - 1} were deleted from the log before they were sent\\.$`));
  const { body: resent } = await ask("POST", `${at}/deliveries/${expired!.id}/resend`);
  assert.equal(resent.status, "pending");
  await untilHave("failed", 1);
  assert.equal((await now()).failingSince, null, "the endpoint is not to blame");
  assert.deepEqual(names(receiver), ["3"]);
});

test("a test is sent once and listed; a resend sends a message again with its id, also while it is being delivered", async (t) => {
  const { receiver, newCategory, ask, at, now, until: untilHave } = await openScene(t, shop, { types: ["category.created"] });
  receiver.answer = failing(500);
  const { status, body: tested } = await ask("POST", `${at}/test`);
  assert.deepEqual([status, tested.status, tested.type, tested.position], [202, "pending", "webhook.test", null]);
  const [failed] = await untilHave("failed", 1);
  assert.deepEqual([failed!.id, failed!.attempts], [tested.id, 1]);
  assert.equal(receiver.got[0]!.body.type, "webhook.test");
  receiver.answer = accepting;
  assert.equal((await ask("POST", `${at}/deliveries/${tested.id}/resend`)).status, 202);
  await untilHave("delivered", 1);
  assert.equal(receiver.got[1]!.headers["webhook-id"], receiver.got[0]!.headers["webhook-id"]);

  const waiting: (() => void)[] = [];
  receiver.answer = (got, response) => void waiting.push(() => accepting(got, response));
  await newCategory("Slow");
  await until(() => waiting.length === 1);
  const slow = await untilHave("pending", 1);
  assert.equal((await ask("POST", `${at}/deliveries/${slow[0]!.id}/resend`)).status, 202);
  for (const answer of waiting) answer();
  receiver.answer = accepting;
  await untilHave("delivered", 2);
  assert.equal((await now()).position, slow[0]!.position);
  assert.equal((await ask("POST", `${at}/deliveries/999999/resend`)).status, 404);
});
