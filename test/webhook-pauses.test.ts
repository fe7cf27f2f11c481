import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startService, type TestService } from "./support/service.ts";
import { until } from "./support/until.ts";
import { names, openScene } from "./support/webhook-scene.ts";
import type { Got, Receiver } from "./support/webhooks.ts";

const time = { now: Date.UTC(2027, 0, 1) };
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => time.now, env: { WEBHOOK_PRIVATE_ADDRESSES: "on" } });
});
after(() => shop.close());

const failing =
  (status: number, headers = {}) =>
  (_: Got, response: Parameters<Receiver["answer"]>[1]) =>
    void response.writeHead(status, headers).end("no");
const accepting: Receiver["answer"] = (_, response) => void response.end("yes");

for (const [title, header, seconds] of [
  ["an hour", "3600", 3_600],
  ["very long", "99999999999999999999", 86_400],
] as const) {
  test(`a pause of ${title} is at most a day, and is shown on the endpoint and on each delivery that waits for it`, async (t) => {
    const { receiver, newCategory, now, deliveries, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
    receiver.answer = failing(503, { "retry-after": header });
    await newCategory("Cats");
    await untilHave("pending", 1);
    const { pausedUntil } = await now();
    assert.equal(pausedUntil, new Date(time.now + seconds * 1_000).toISOString().replace(".000Z", "Z"));
    assert.equal((await deliveries())[0]!.nextAttemptAt, pausedUntil);
    receiver.answer = accepting;
    time.now = Date.parse(pausedUntil) + 1_000;
    assert.equal((await now()).pausedUntil, null);
    await untilHave("delivered", 1);
    assert.equal(receiver.got.length, 2);
  });
}

test("tests and resends are sent at once while an endpoint asks for pauses, each of them, and end its pause", async (t) => {
  const { receiver, newCategory, ask, at, now, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
  receiver.answer = failing(429, { "retry-after": "86400" });
  await newCategory("Cats");
  const [waiting] = await untilHave("pending", 1);
  time.now += 3_600_000;
  const tests = [await ask("POST", `${at}/test`), await ask("POST", `${at}/test`)];
  assert.ok(tests.every(({ body }) => Date.parse(body.nextAttemptAt!) <= time.now));
  await untilHave("failed", 2);
  const types = () => receiver.got.filter(({ body }) => body.type === "webhook.test").length;
  assert.equal(types(), 2);
  await until(async () => (await now()).pausedUntil !== null);
  receiver.answer = accepting;
  const { body: resent } = await ask("POST", `${at}/deliveries/${waiting!.id}/resend`);
  assert.ok(Date.parse(resent.nextAttemptAt!) <= time.now);
  const [delivered] = await untilHave("delivered", 1);
  assert.equal(delivered!.id, waiting!.id);
  assert.equal((await now()).pausedUntil, null);
});

test("enabling an endpoint ends its pause, also if it is enabled, and sends at once", async (t) => {
  for (const change of [[{ enabled: true }], [{ enabled: false }, { enabled: true }]]) {
    const { receiver, newCategory, ask, at, now, until: untilHave } = await openScene(t, shop, { types: ["category.*"] });
    receiver.answer = failing(429, { "retry-after": "86400" });
    await newCategory("Cats");
    await untilHave("pending", 1);
    receiver.answer = accepting;
    for (const body of change) assert.equal((await ask("PATCH", at, body)).status, 200);
    assert.equal((await now()).pausedUntil, null);
    await newCategory("Dogs");
    await until(() => names(receiver).includes("Dogs"));
  }
});
