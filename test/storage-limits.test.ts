import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import sql from "sql-template-tag";
import { runs } from "./support/fault-runs.ts";
import type { Category, Failure, Order, Pet } from "./support/models.ts";
import { newDatabase } from "./support/postgres.ts";
import { ask, engine, startService, statusesOf, testOnce, unlimited, type Reply, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

type Use = { limit: number; used: number; remaining: number };

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** An account that may store so many records, with requests without end. */
async function openShop(records: number) {
  const { id, key } = await service.newAccount("enterprise", { ...unlimited, records });
  return {
    id,
    key,
    send: <T = Failure>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      service.ask<T>(method, path, { key, headers, ...(body !== undefined && { body }) }),
    /** Sends a request that must succeed. */
    make: <T>(method: string, path: string, body?: unknown) => made<T>(service, method, path, body, key),
    records: async () => (await made<{ records: Use }>(service, "GET", "/account", undefined, key)).records,
    setPlan: (terms: object) => service.administration["accounts.setPlan"]({ id, ...terms }),
  };
}
type Shop = Awaited<ReturnType<typeof openShop>>;

/** A batch of equal bodies. */
const many = (size: number, body: object): object[] => Array.from({ length: size }, () => body);

const isRefused = ({ status, body }: Reply<Failure>) => assert.deepEqual([status, body.code], [403, "storage_limit_reached"]);

/** The number of records by the rows. */
async function countedOf({ id }: Shop): Promise<number> {
  const [row] = await service.db.query<{ n: number }>(sql`
    SELECT (SELECT COUNT(*) FROM categories WHERE account_id = ${id}) + (SELECT COUNT(*) FROM pets WHERE account_id = ${id})
      + (SELECT COUNT(*) FROM orders WHERE account_id = ${id} AND complete = FALSE) AS n`);
  return Number(row?.n);
}

test("pets, categories and open orders count as records, and complete orders and stock entries do not", async () => {
  const shop = await openShop(100);
  let expected = 0;
  const changes = async (by: number, method: string, path: string, body?: unknown): Promise<number> => {
    const reply = await shop.make<{ id: number } | string>(method, path, body);
    expected += by;
    assert.equal((await shop.records()).used, expected, `${method} ${path}`);
    return typeof reply === "string" ? 0 : reply.id;
  };
  const dogs = await changes(1, "POST", "/categories", { name: "Dogs" });
  const cats = await changes(1, "POST", "/categories", { name: "Cats" });
  const rex = await changes(1, "POST", "/pets", { name: "Rex", categoryId: dogs });
  await changes(3, "POST", "/pets/batch", many(3, { name: "Luna", categoryId: dogs }));
  await changes(0, "PUT", `/store/inventory/${rex}`, { quantity: 5 });
  await changes(0, "PUT", `/store/inventory/${rex}`, { quantity: 6 });
  await changes(0, "POST", `/store/inventory/${rex}/adjustments`, { delta: 1 });
  const draft = await changes(1, "POST", "/store/orders", {});
  const open = await changes(1, "POST", "/store/orders", { petId: rex });
  await changes(0, "POST", "/store/orders", { petId: rex, complete: true });
  await changes(0, "PUT", `/store/orders/${draft}`, { petId: rex });
  await changes(-1, "PATCH", `/store/orders/${open}`, { complete: true });
  await changes(0, "PATCH", `/store/orders/${open}`, { shipDate: "2026-12-24T10:00:00Z" });
  await changes(-1, "DELETE", `/store/orders/${draft}`);
  await changes(0, "DELETE", `/store/inventory/${rex}`);
  await changes(0, "PUT", `/store/inventory/${rex}`, { quantity: 5 });
  await changes(-1, "DELETE", `/pets/${rex}`);
  await changes(-1, "DELETE", `/pets/${rex + 1}`);
  await changes(-1, "DELETE", `/categories/${cats}`);
  assert.deepEqual(await shop.records(), { limit: 100, used: 3, remaining: 97 });
  assert.equal(await countedOf(shop), 3);
});

test("only additions are refused: updates, completions, adjustments, reads and deletions are allowed, even if a lower plan leaves the account over its limit", async () => {
  const shop = await openShop(9);
  const { id: categoryId } = await shop.make<Category>("POST", "/categories", { name: "Dogs" });
  const pets = await shop.make<Pet[]>("POST", "/pets/batch", many(4, { name: "Rex", categoryId }));
  const [tracked, other] = pets as [Pet, Pet];
  await shop.make("PUT", `/store/inventory/${tracked.id}`, { quantity: 5 });
  const orders = [];
  for (let i = 0; i < 4; i++) orders.push(await shop.make<Order>("POST", "/store/orders", { petId: tracked.id }));

  for (const terms of [undefined, { plan: "free", records: 3 }]) {
    if (terms) await shop.setPlan(terms);
    isRefused(await shop.send("POST", "/categories", { name: "Cats" }));
    isRefused(await shop.send("POST", "/pets", { name: "Luna", categoryId }));
    isRefused(await shop.send("POST", "/pets/batch", [{ name: "Luna", categoryId }]));
    isRefused(await shop.send("POST", "/store/orders", { petId: tracked.id }));
    isRefused(await shop.send("POST", "/store/orders", {}));
    assert.equal((await shop.records()).used, 9);
    await shop.make("PUT", `/store/inventory/${other.id}`, { quantity: 1 });

    await shop.make("POST", "/store/orders", { petId: tracked.id, complete: true });
    await shop.make("PUT", `/categories/${categoryId}`, { name: "Good dogs" });
    await shop.make("PATCH", `/pets/${other.id}`, { name: "Lassie" });
    await shop.make("PUT", `/store/inventory/${tracked.id}`, { quantity: 7 });
    await shop.make("POST", `/store/inventory/${tracked.id}/adjustments`, { delta: -1 });
    await shop.make("PATCH", `/store/orders/${orders[3]?.id}`, { quantity: 2 });
    await shop.make("GET", "/pets");
  }
  assert.deepEqual(await shop.records(), { limit: 3, used: 9, remaining: 0 });
  await shop.make("PATCH", `/store/orders/${orders[0]?.id}`, { complete: true });
  for (const order of orders.slice(1)) await shop.make("DELETE", `/store/orders/${order.id}`);
  await shop.make("DELETE", `/store/inventory/${tracked.id}`);
  for (const { id } of pets.slice(1)) await shop.make("DELETE", `/pets/${id}`);
  assert.deepEqual(await shop.records(), { limit: 3, used: 2, remaining: 1 });
  await shop.make("POST", "/pets", { name: "Luna", categoryId });
  isRefused(await shop.send("POST", "/pets", { name: "Luna", categoryId }));
});

test("a refused addition leaves nothing behind: neither rows nor held units", async () => {
  const shop = await openShop(2);
  const { id: categoryId } = await shop.make<Category>("POST", "/categories", { name: "Dogs" });
  const { id: petId } = await shop.make<Pet>("POST", "/pets", { name: "Rex", categoryId });
  await shop.make("PUT", `/store/inventory/${petId}`, { quantity: 5 });
  const refused = await shop.send("POST", "/store/orders", { petId, quantity: 2 });
  isRefused(refused);
  assert.equal(
    refused.body.message,
    "The account stores 2 records (pets, those in the bin, categories and open orders) and may store 2: there is no room for 1 more. Delete some, or ask for a higher limit.",
  );
  assert.deepEqual(await shop.make("GET", `/store/inventory/${petId}`), { petId, quantity: 5, status: "available" });
  assert.deepEqual(await shop.make("GET", "/store/orders"), []);
});

test("a batch that does not fit as a whole creates nothing, and one that fits exactly is created", async () => {
  const shop = await openShop(1_000);
  const { id: categoryId } = await shop.make<Category>("POST", "/categories", { name: "Dogs" });
  const batch = (size: number) => shop.send("POST", "/pets/batch", many(size, { name: "Rex", categoryId }));
  isRefused(await batch(1_000));
  assert.equal((await batch(999)).status, 201);
  isRefused(await batch(1));
});

testOnce("a refusal by the storage limit is not stored for its Idempotency-Key, and a replay adds nothing", async () => {
  const shop = await openShop(1);
  const post = (name: string, key: string) => shop.send<Failure & Category>("POST", "/categories", { name }, { "idempotency-key": key });
  const first = await post("Dogs", "one");
  for (let i = 0; i < 3; i++) assert.deepEqual((await post("Dogs", "one")).body, first.body);
  assert.equal((await shop.records()).used, 1);
  isRefused(await post("Cats", "two"));
  await shop.make("DELETE", `/categories/${first.body.id}`);
  const retried = await post("Cats", "two");
  assert.deepEqual([retried.status, retried.headers.get("idempotent-replayed")], [201, null]);
  assert.equal((await shop.records()).used, 1);
});

for (const left of [0, 1, 7]) {
  test(`of 40 additions at once with room for ${left}, exactly ${left} pass`, async () => {
    const shop = await openShop(40);
    const { id: categoryId } = await shop.make<Category>("POST", "/categories", { name: "Dogs" });
    await shop.make("POST", "/pets/batch", many(39 - left, { name: "Rex", categoryId }));
    const additions = (i: number) => [
      shop.send("POST", "/store/orders", {}),
      shop.send("POST", "/pets", { name: "Luna", categoryId }),
      shop.send("POST", "/categories", { name: `Category ${i}` }),
      shop.send("POST", "/pets/batch", [{ name: "Tiger", categoryId }]),
    ];
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => additions(i)).flat());
    assert.deepEqual(statusesOf(replies), [...Array<number>(left).fill(201), ...Array<number>(40 - left).fill(403)]);
    assert.deepEqual([(await shop.records()).used, await countedOf(shop)], [40, 40]);
  });
}

testOnce("all nodes share the limit, and a change of plan applies on all of them once it has returned", async (t) => {
  const database = await newDatabase(undefined, { migrated: true });
  const nodes: TestService[] = [];
  for (let i = 0; i < 3; i++) nodes.push(await startService({ env: { DATABASE_URL: database.url } }));
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await database.drop();
  });
  const [first] = nodes as [TestService];
  const { id, key } = await first.newAccount("enterprise", { ...unlimited, records: 10 });
  const send = (node: TestService) => ask<Failure>(`${node.address}/v1/store/orders`, "POST", { key, body: {} });
  const burst = () => Promise.all(Array.from({ length: 10 }, () => nodes.map(send)).flat());
  const passed = (replies: Reply[]) => statusesOf(replies).filter((status) => status === 201).length;
  assert.equal(passed(await burst()), 10);
  await first.administration["accounts.setPlan"]({ id, plan: "enterprise", ...unlimited, records: 25 });
  assert.equal(passed(await burst()), 15);
  await first.administration["accounts.setPlan"]({ id, plan: "enterprise", ...unlimited, records: 30 });
  const during = burst();
  await nodes[1]!.administration["accounts.setPlan"]({ id, plan: "enterprise", ...unlimited, records: 20 });
  assert.equal(passed(await Promise.all(nodes.map(send))), 0, "no addition once the lower limit was answered");
  assert.ok(passed(await during) <= 5);
});

const ids = fc.nat(9);
const wish = fc.oneof(
  fc.record({ op: fc.constant("createCategory" as const) }),
  fc.record({ op: fc.constant("deleteCategory" as const), which: ids }),
  fc.record({ op: fc.constant("createPets" as const), which: ids, size: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ op: fc.constant("deletePet" as const), which: ids }),
  fc.record({ op: fc.constant("track" as const), which: ids }),
  fc.record({ op: fc.constant("untrack" as const), which: ids }),
  fc.record({ op: fc.constant("order" as const), which: ids, complete: fc.boolean() }),
  fc.record({ op: fc.constant("complete" as const), which: ids }),
  fc.record({ op: fc.constant("cancel" as const), which: ids }),
);
type Wish = typeof wish extends fc.Arbitrary<infer T> ? T : never;

test("whatever the concurrent requests, the count is the number of rows and never above the limit", async () => {
  let named = 0;
  const bursts = fc.array(fc.array(wish, { minLength: 10, maxLength: 25, size: "max" }), { minLength: 2, maxLength: 3 });
  const property = fc.asyncProperty(bursts, fc.integer({ min: 5, max: 60 }), async (scripts, limit) => {
    const shop = await openShop(limit);
    for (let i = 0; i < 3; i++) await shop.make("POST", "/categories", { name: `Kept ${i}` });
    for (const script of scripts) {
      const listed = async (path: string, field: string) => {
        const rows = await shop.make<Record<string, number>[]>("GET", `${path}?limit=100`);
        return (which: number) => rows[which % Math.max(1, rows.length)]?.[field] ?? 0;
      };
      const category = await listed("/categories", "id");
      const pet = await listed("/pets", "id");
      const entry = await listed("/store/inventory", "petId");
      const order = await listed("/store/orders", "id");
      const send = (one: Wish): Promise<Reply<Failure>> => {
        if (one.op === "createCategory") return shop.send("POST", "/categories", { name: `Category ${named++}` });
        if (one.op === "deleteCategory") return shop.send("DELETE", `/categories/${category(one.which)}`);
        if (one.op === "createPets")
          return shop.send("POST", "/pets/batch", many(one.size, { name: "Rex", categoryId: category(one.which) || 1 }));
        if (one.op === "deletePet") return shop.send("DELETE", `/pets/${pet(one.which)}`);
        if (one.op === "track") return shop.send("PUT", `/store/inventory/${pet(one.which)}`, { quantity: 5 });
        if (one.op === "untrack") return shop.send("DELETE", `/store/inventory/${entry(one.which)}`);
        if (one.op === "order") {
          const petId = one.which % 3 === 0 ? {} : { petId: pet(one.which) || 1 };
          return shop.send("POST", "/store/orders", { ...petId, complete: one.complete });
        }
        if (one.op === "complete") return shop.send("PATCH", `/store/orders/${order(one.which)}`, { complete: true });
        return shop.send("DELETE", `/store/orders/${order(one.which)}`);
      };
      const replies = await Promise.all(script.map(send));
      for (const { status, body } of replies) assert.ok(status < 500, body.message);
      const { used } = await shop.records();
      assert.equal(used, await countedOf(shop));
      assert.ok(used <= limit, `${used} of ${limit}`);
    }
  });
  await fc.assert(property, { numRuns: runs(engine === "sqlite" ? 8 : 4, 25) });
});

testOnce(
  "every plan has its limit, an operator may set another on any, and both GET /account and GET /usage show what is stored",
  async () => {
    const mib = 1_048_576;
    for (const [plan, most, bytes, eventBytes] of [
      ["free", 25_000, 500 * mib, 256 * mib],
      ["pro", 250_000, 5 * 1_024 * mib, 1_024 * mib],
      ["business", 5_000_000, 50 * 1_024 * mib, 5 * 1_024 * mib],
      ["enterprise", 5_000_000, 50 * 1_024 * mib, 5 * 1_024 * mib],
    ] as const) {
      const { key } = await service.newAccount(plan);
      await newPet(service, (await newCategory(service, "Dogs", key)).id, {}, key);
      const expected = {
        records: { limit: most, used: 2, remaining: most - 2 },
        publishedBytes: { limit: bytes, used: 0, remaining: bytes },
        eventBytes: { limit: eventBytes },
      };
      assert.partialDeepStrictEqual(await made<object>(service, "GET", "/account", undefined, key), expected);
      assert.partialDeepStrictEqual(await made<object>(service, "GET", "/usage", undefined, key), expected);
    }
    const shop = await openShop(5);
    for (const plan of ["free", "pro", "business", "enterprise"]) {
      const { account } = await shop.setPlan({ plan, records: 7, publishedBytes: 3_000_000_000, eventBytes: 4_000_000 });
      assert.deepEqual([account.publishedBytes.limit, account.eventBytes.limit], [3_000_000_000, 4_000_000]);
      assert.deepEqual(
        [account.records, await shop.records()],
        [
          { limit: 7, used: 0, remaining: 7 },
          { limit: 7, used: 0, remaining: 7 },
        ],
      );
    }
    await shop.setPlan({ plan: "pro" });
    assert.equal((await shop.records()).limit, 250_000, "the plan's, where no other is given");
  },
);
