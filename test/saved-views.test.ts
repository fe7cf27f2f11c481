import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newMember, type Browser } from "./support/dashboard.ts";
import type { Failure } from "./support/models.ts";
import { startService, statusesOf, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type View = { id: number; name: string; query: object };
let shops = 0;

/** An account with an owner and a member. */
async function openShop(): Promise<{ id: number; key: string; owner: Browser; member: Browser }> {
  const { id, key } = await service.newAccount();
  shops += 1;
  const owner = await newMember(service, { account: id, email: `ann${shops}@shop.example`, role: "owner" });
  const member = await newMember(service, { account: id, email: `bob${shops}@shop.example`, role: "member" });
  return { id, key, owner, member };
}

const viewsOf = async (who: Browser, list: string) => (await who.ask<{ views: View[] }>("GET", `/views/${list}`)).body.views;

test("a member saves a view of each list, every member of the account reads and deletes it, and nobody else", async () => {
  const { key, owner, member } = await openShop();
  const stranger = (await openShop()).owner;
  const animals = { name: " Dogs to sell ", query: { q: " rex ", status: "available", categoryId: 7, sort: "-name" } };
  const orders = { name: "Open", query: { petId: 3, complete: false, sort: "id" } };
  const saved = await member.ask<View>("POST", "/views/animals", animals);
  assert.equal(saved.status, 201);
  const { id } = saved.body;
  const kept = { id, name: "Dogs to sell", query: { ...animals.query, q: "rex" } };
  assert.deepEqual(saved.body, kept);
  assert.equal((await owner.ask("POST", "/views/orders", orders)).status, 201);
  assert.deepEqual(await viewsOf(owner, "animals"), [kept]);
  assert.partialDeepStrictEqual(await viewsOf(member, "orders"), [orders]);
  assert.deepEqual([await viewsOf(stranger, "animals"), await viewsOf(stranger, "orders")], [[], []]);
  for (const path of [`/views/orders/${id}`, "/views/animals/987654"]) assert.equal((await owner.ask("DELETE", path)).status, 404, path);
  assert.equal((await stranger.ask("DELETE", `/views/animals/${id}`)).status, 404);
  for (const path of ["/views/animals", "/views/orders"]) assert.equal((await service.ask("GET", path, { key })).status, 404, "no key");
  assert.deepEqual(await viewsOf(member, "animals"), [kept]);
  assert.equal((await owner.ask("DELETE", `/views/animals/${id}`)).status, 204);
  assert.equal((await member.ask("DELETE", `/views/animals/${id}`)).status, 404);
  assert.deepEqual(await viewsOf(member, "animals"), []);
  assert.equal((await viewsOf(member, "orders")).length, 1);
});

test("a view without a name, with a name that is taken, or with what its list does not know is refused where it is wrong, and saves nothing", async () => {
  const { member } = await openShop();
  const query = { sort: "name" };
  await member.ask("POST", "/views/animals", { name: "Straße", query });
  const earlier = await viewsOf(member, "animals");
  const wrong: [list: string, body: object, path: string][] = [
    ["animals", { query }, "body.name"],
    ["animals", { name: " ", query }, "body.name"],
    ["animals", { name: "\u200B", query }, "body.name"],
    ["animals", { name: "a\nb", query }, "body.name"],
    ["animals", { name: "x".repeat(51), query }, "body.name"],
    ["animals", { name: "STRASSE", query }, "body.name"],
    ["animals", { name: "None" }, "body.query"],
    ["animals", { name: "None", query: {} }, "body.query"],
    ["animals", { name: "None", query: { q: null } }, "body.query"],
    ["animals", { name: "None", query: [] }, "body.query"],
    ["animals", { name: "Long", query: { q: "x".repeat(201) } }, "body.query.q"],
    ["animals", { name: "Empty", query: { q: " " } }, "body.query.q"],
    ["animals", { name: "Unknown", query: { ...query, limit: 5 } }, "body.query.limit"],
    ["animals", { name: "Status", query: { status: "gone" } }, "body.query.status"],
    ["animals", { name: "Category", query: { categoryId: "dogs" } }, "body.query.categoryId"],
    ["animals", { name: "Order", query: { sort: "price" } }, "body.query.sort"],
    ["animals", { name: "Search", query: { q: "rex", sort: "-id" } }, "body.query.sort"],
    ["animals", { name: "Orders", query: { complete: true } }, "body.query.complete"],
    ["orders", { name: "Animals", query: { status: "sold" } }, "body.query.status"],
    ["orders", { name: "Order", query: { sort: "name" } }, "body.query.sort"],
    ["orders", { name: "State", query: { complete: "yes" } }, "body.query.complete"],
  ];
  for (const [list, body, path] of wrong) {
    const { status, body: refusal } = await member.ask<Failure>("POST", `/views/${list}`, body);
    const paths = refusal.details?.map((detail) => detail.path);
    assert.deepEqual([status, refusal.code, paths], [400, "invalid_request", [path]], JSON.stringify([body, refusal]));
  }
  assert.deepEqual([await viewsOf(member, "animals"), await viewsOf(member, "orders")], [earlier, []]);
  assert.equal(
    (await member.ask("POST", "/views/orders", { name: "Straße", query: { sort: "id" } })).status,
    201,
    "each list has its names",
  );
  assert.equal((await member.ask("GET", "/views/categories")).status, 404);
});

test("a list has at most 20 views, and one of each name, also where members save them at once", async () => {
  const { owner, member } = await openShop();
  const save = (name: string, who = owner) => who.ask<Failure>("POST", "/views/orders", { name, query: { complete: true } });
  const twice = await Promise.all([save("Same"), save("same", member)]);
  assert.deepEqual(statusesOf(twice), [201, 400]);
  for (let n = 2; n <= 18; n++) assert.equal((await save(`View ${n}`)).status, 201);
  const last = await Promise.all([19, 20, 21, 22].map((n) => save(`View ${n}`, n % 2 === 0 ? owner : member)));
  assert.deepEqual(statusesOf(last), [201, 201, 400, 400]);
  const refused = last.find(({ status }) => status === 400)!.body;
  assert.equal(refused.message, "The list has 20 saved views already: delete some first.");
  assert.equal((await viewsOf(owner, "orders")).length, 20);
  assert.equal((await owner.ask("POST", "/views/animals", { name: "Same", query: { sort: "id" } })).status, 201, "other lists have room");
  const [first] = await viewsOf(owner, "orders");
  assert.equal((await owner.ask("DELETE", `/views/orders/${first!.id}`)).status, 204);
  assert.equal((await save("Room")).status, 201);
});
