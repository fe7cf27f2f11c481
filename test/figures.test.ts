import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newMember } from "./support/dashboard.ts";
import { allNumbered } from "./support/event-log.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

const dayMs = 86_400_000;
const time = { now: Date.UTC(2026, 5, 15, 12) };
let service: TestService;
before(async () => void (service = await startService({ clock: () => time.now })));
after(() => service.close());

test("the figures count the orders of the last 7 days and of the 7 days before, of the account only", async () => {
  const { id, key } = await service.newAccount();
  const { id: petId } = await newPet(service, (await newCategory(service, "Dogs", key)).id, {}, key);
  const order = async (complete: boolean) => {
    const { status, body } = await service.ask<{ id: number }>("POST", "/store/orders", { key, body: { petId } });
    assert.equal(status, 201);
    if (complete) assert.equal((await service.ask("PATCH", `/store/orders/${body.id}`, { key, body: { complete } })).status, 200);
    await allNumbered(service.db);
  };
  await order(true);
  time.now += 3 * dayMs;
  for (const complete of [true, false]) await order(complete);
  time.now += 5 * dayMs;
  for (const complete of [true, false, false]) await order(complete);
  time.now += 6 * dayMs + dayMs / 2;
  const figuresOf = async (account: number) => {
    const owner = await newMember(service, { account, email: `owner${account}@shop.example`, role: "owner" });
    return (await owner.ask("GET", "/figures")).body;
  };
  assert.deepEqual(await figuresOf(id), { placed: { now: 3, before: 2 }, fulfilled: { now: 1, before: 1 }, isWhole: true });
  const none = { now: 0, before: 0 };
  assert.deepEqual(await figuresOf((await service.newAccount()).id), { placed: none, fulfilled: none, isWhole: true });
});
