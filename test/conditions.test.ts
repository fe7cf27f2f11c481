import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { operationsIn, type Document } from "./support/description.ts";
import type { Failure, Pet } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService();
  ({ id: categoryId } = await newCategory(shop, "Dogs"));
});
after(() => shop.close());

/** Each kind of resource: its path, and a body that replaces it. */
async function resources(): Promise<[string, unknown][]> {
  const [pet, tracked] = [await newPet(shop, categoryId), await newPet(shop, categoryId)];
  await made(shop, "PUT", `/store/inventory/${tracked.id}`, { quantity: 5 });
  const order = await made<{ id: number }>(shop, "POST", "/store/orders", {});
  const category = await newCategory(shop, `Category ${pet.id}`);
  return [
    [`/pets/${pet.id}`, { name: "Max", categoryId }],
    [`/categories/${category.id}`, { name: `Category ${pet.id}`, description: "New." }],
    [`/store/orders/${order.id}`, { quantity: 3 }],
    [`/store/inventory/${tracked.id}`, { quantity: 9 }],
  ];
}

const etagOf = async (path: string): Promise<string> => (await shop.ask("GET", path)).headers.get("etag") ?? "";

test("every resource has a strong ETag, the same in the responses of writes and reads, and a new one after a change", async () => {
  for (const [path, body] of await resources()) {
    const earlier = await etagOf(path);
    assert.match(earlier, /^"[^"]+"$/);
    const written = await shop.ask("PUT", path, { body });
    assert.equal(written.status, 200);
    assert.notEqual(written.headers.get("etag"), earlier);
    assert.equal(await etagOf(path), written.headers.get("etag"));
  }
});

test("the response of a creation has the ETag of a later read", async () => {
  for (const [path, body] of [
    ["/pets", { name: "A", categoryId }],
    ["/categories", { name: "Etag" }],
    ["/store/orders", {}],
  ] as const) {
    const created = await shop.ask<{ id: number }>("POST", path, { body });
    assert.equal(created.headers.get("etag"), await etagOf(`${path}/${created.body.id}`));
  }
});

test("If-None-Match returns 304 without a body, with the ETag and the limit headers, while the resource is unchanged", async () => {
  for (const [path, body] of await resources()) {
    const etag = await etagOf(path);
    for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const reply = await shop.ask("GET", path, { headers: { "if-none-match": ifNoneMatch } });
      assert.deepEqual([reply.status, reply.body, reply.headers.get("etag")], [304, "", etag]);
      assert.ok(reply.headers.has("x-ratelimit-remaining") && reply.headers.has("x-request-id"));
    }
    assert.equal((await shop.ask("HEAD", path, { headers: { "if-none-match": etag } })).status, 304);
    assert.equal((await shop.ask("GET", path, { headers: { "if-none-match": '"other"' } })).status, 200);
    await made(shop, "PUT", path, body);
    assert.equal((await shop.ask("GET", path, { headers: { "if-none-match": etag } })).status, 200);
  }
});

test("an outdated If-Match returns 412 and changes nothing", async () => {
  for (const [path, body] of await resources()) {
    const stale = await etagOf(path);
    await made(shop, "PUT", path, body);
    const earlier = await shop.ask("GET", path);
    for (const ifMatch of [stale, '"other"', `W/${earlier.headers.get("etag")}`, "garbage"]) {
      for (const method of ["PUT", "DELETE"]) {
        const refused = await shop.ask<Failure>(method, path, { headers: { "if-match": ifMatch }, ...(method === "PUT" && { body }) });
        assert.deepEqual([refused.status, refused.body.code], [412, "precondition_failed"], `${method} ${path} ${ifMatch}`);
      }
    }
    const now = await shop.ask("GET", path);
    assert.deepEqual([now.body, now.headers.get("etag")], [earlier.body, earlier.headers.get("etag")]);
  }
});

test("a matching If-Match lets a write pass: the ETag, one of a list, or *", async () => {
  for (const [path, body] of await resources()) {
    for (const ifMatch of [async () => etagOf(path), async () => `"other", ${await etagOf(path)}`, async () => "*"]) {
      assert.equal((await shop.ask("PUT", path, { body, headers: { "if-match": await ifMatch() } })).status, 200);
    }
    assert.equal((await shop.ask("DELETE", path, { headers: { "if-match": await etagOf(path) } })).status, 204, path);
  }
});

test("a read with an outdated If-Match returns 412, and with a matching one the resource", async () => {
  for (const [path] of await resources()) {
    const etag = await etagOf(path);
    for (const ifMatch of ['"other"', `W/${etag}`]) {
      const refused = await shop.ask<Failure>("GET", path, { headers: { "if-match": ifMatch, "if-none-match": etag } });
      assert.deepEqual([refused.status, refused.body.code], [412, "precondition_failed"], `${path} ${ifMatch}`);
      assert.equal((await shop.ask("HEAD", path, { headers: { "if-match": ifMatch } })).status, 412);
    }
    for (const ifMatch of [etag, "*"]) {
      assert.equal((await shop.ask("GET", path, { headers: { "if-match": ifMatch } })).status, 200);
      assert.equal((await shop.ask("GET", path, { headers: { "if-match": ifMatch, "if-none-match": etag } })).status, 304);
    }
  }
});

test("an adjustment honours If-Match: of several that have read the same count, one passes", async () => {
  const { id } = await newPet(shop, categoryId);
  const path = `/store/inventory/${id}`;
  const adjust = async (delta: number, ifMatch: string) => {
    const { status, body } = await shop.ask<Failure & { quantity?: number }>("POST", `${path}/adjustments`, {
      body: { delta },
      headers: { "if-match": ifMatch },
    });
    return [status, body.code ?? body.quantity];
  };
  assert.deepEqual(await adjust(1, '"v1"'), [404, "not_found"]);
  await made(shop, "PUT", path, { quantity: 5 });
  const etag = await etagOf(path);
  const replies = await Promise.all(Array.from({ length: 5 }, () => adjust(-1, etag)));
  assert.deepEqual(
    replies.toSorted(([a = 0], [b = 0]) => (a < b ? -1 : 1)),
    [[200, 4], ...Array.from({ length: 4 }, () => [412, "precondition_failed"])],
  );
  assert.deepEqual(await adjust(-9, etag), [412, "precondition_failed"], "before the stock is looked at");
  assert.deepEqual(await adjust(-4, await etagOf(path)), [200, 0]);
});

test("PATCH honours If-Match as PUT does", async () => {
  const { id } = await newPet(shop, categoryId);
  const etag = await etagOf(`/pets/${id}`);
  const patch = () => shop.ask("PATCH", `/pets/${id}`, { body: { name: "Max" }, headers: { "if-match": etag } });
  assert.deepEqual([(await patch()).status, (await patch()).status], [200, 412]);
});

test("of many writes with the same If-Match exactly one passes", async () => {
  const { id } = await newPet(shop, categoryId);
  const etag = await etagOf(`/pets/${id}`);
  const rename = (n: number) => shop.ask("PATCH", `/pets/${id}`, { body: { name: `Name ${n}` }, headers: { "if-match": etag } });
  const statuses = (await Promise.all(Array.from({ length: 20 }, (_, n) => rename(n)))).map(({ status }) => status);
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [200, ...Array.from({ length: 19 }, () => 412)],
  );
});

test("GET /pets?id=N with one id has that pet's ETag and honours If-None-Match; other lists have no ETag", async () => {
  const [one, two] = [await newPet(shop, categoryId), await newPet(shop, categoryId)];
  const list = await shop.ask<Pet[]>("GET", `/pets?id=${one.id}`);
  assert.deepEqual([list.body, list.headers.get("etag")], [[one], await etagOf(`/pets/${one.id}`)]);
  const etag = list.headers.get("etag") ?? "";
  assert.equal((await shop.ask("GET", `/pets?id=${one.id}`, { headers: { "if-none-match": etag } })).status, 304);
  await made(shop, "PUT", `/pets/${one.id}`, { name: "Max", categoryId });
  assert.equal((await shop.ask("GET", `/pets?id=${one.id}`, { headers: { "if-none-match": etag } })).status, 200);
  for (const query of [`id=${one.id}&id=${two.id}`, "limit=1", "id=999999"]) {
    assert.equal((await shop.ask("GET", `/pets?${query}`)).headers.get("etag"), null, query);
  }
});

test("a count with If-None-Match: * only creates an entry, and one with If-Match only replaces an entry", async () => {
  const { id } = await newPet(shop, categoryId);
  const put = async (headers: Record<string, string>) =>
    (await shop.ask("PUT", `/store/inventory/${id}`, { body: { quantity: 1 }, headers })).status;
  assert.equal(await put({ "if-match": "*" }), 412);
  assert.equal((await shop.ask("GET", `/store/inventory/${id}`)).status, 404);
  assert.equal(await put({ "if-none-match": "*" }), 201);
  assert.equal(await put({ "if-none-match": "*" }), 412);
  assert.equal(await put({ "if-match": "*" }), 200);
});

test("the ETag of a pet changes with the status that follows from its stock", async () => {
  const { id } = await newPet(shop, categoryId);
  await made(shop, "PUT", `/store/inventory/${id}`, { quantity: 1 });
  const earlier = await etagOf(`/pets/${id}`);
  await made(shop, "POST", "/store/orders", { petId: id, quantity: 1 });
  assert.notEqual(await etagOf(`/pets/${id}`), earlier);
});

test("a resource that is deleted and created with other content at its address has another ETag", async () => {
  const { id } = await newPet(shop, categoryId);
  const order = await made<{ id: number }>(shop, "POST", "/store/orders", {});
  const bodies: Record<string, [earlier: object, later: object]> = {
    "/pets/{petId}/profile": [{ description: "Friendly." }, { description: "Shy." }],
    "/store/orders/{orderId}/contact": [{ name: "Ann" }, { name: "Bob" }],
    "/store/inventory/{petId}": [{ quantity: 5 }, { quantity: 4 }],
  };
  const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document;
  const makers = operationsIn(document).flatMap(({ method, path, responses }) => (method === "PUT" && responses["201"] ? [path] : []));
  assert.deepEqual(makers.toSorted(), Object.keys(bodies).toSorted());
  for (const [template, [earlier, later]] of Object.entries(bodies)) {
    const path = template.replace("{petId}", String(id)).replace("{orderId}", String(order.id));
    const seen = (await shop.ask("PUT", path, { body: earlier })).headers.get("etag")!;
    assert.equal((await shop.ask("DELETE", path)).status, 204);
    const again = await shop.ask("PUT", path, { body: later });
    assert.deepEqual([again.status, again.headers.get("etag") === seen], [201, false], path);
    const stale = await shop.ask("PUT", path, { body: earlier, headers: { "if-match": seen } });
    assert.deepEqual([stale.status, await etagOf(path)], [412, again.headers.get("etag")], path);
  }
});
