import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Failure, Order, Pet } from "./support/models.ts";
import { ask, startService, type Asked, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

let shop: TestService;
let categoryId: number;
before(async () => {
  shop = await startService();
  ({ id: categoryId } = await newCategory(shop, "Dogs"));
});
after(() => shop.close());

async function refusal(method: string, path: string, asked?: Asked): Promise<[number, string]> {
  const { status, body } = await shop.ask<Failure>(method, path, asked);
  assert.equal(body.status, status);
  return [status, body.code];
}

test("an error is the Error object: code, message and status, and details only on a 400", async () => {
  const { body: missing } = await shop.ask<Failure>("GET", "/categories/999");
  assert.deepEqual(missing, { code: "not_found", message: "There is no category 999.", status: 404 });
  const { body: invalid } = await shop.ask<Failure>("POST", "/pets", { body: { name: "" } });
  assert.deepEqual(Object.keys(invalid), ["code", "message", "status", "details"]);
  assert.deepEqual(invalid.details?.map(({ path }) => path).toSorted(), ["body.categoryId", "body.name"]);
});

test("an identifier in a path is a canonical decimal within int64, else 400", async () => {
  const refused = ["01", "+1", "1e3", "1.0", "-0", "0x1", "abc", " 1", "%20", "1%00", "٣", "--1", "1_000", "NaN", "null"];
  const beyond = ["9223372036854775808", "-9223372036854775809", "99999999999999999999999999", "1".repeat(2_000)];
  for (const id of [...refused, ...beyond]) {
    for (const path of [`/pets/${id}`, `/categories/${id}`, `/store/orders/${id}`, `/store/inventory/${id}`]) {
      assert.deepEqual(await refusal("GET", path), [400, "invalid_request"], path);
    }
    assert.deepEqual(await refusal("DELETE", `/pets/${id}`), [400, "invalid_request"], id);
  }
});

test("an unknown identifier in a path is a 404: 0, negatives, beyond 2^53 and the ends of int64 too", async () => {
  const unknown = ["0", "-1", "999999", "9007199254740993", "9223372036854775807", "-9223372036854775808"];
  for (const id of unknown) {
    for (const path of [`/pets/${id}`, `/categories/${id}`, `/store/orders/${id}`, `/store/inventory/${id}`]) {
      assert.deepEqual(await refusal("GET", path), [404, "not_found"], path);
      assert.deepEqual(await refusal("DELETE", path), [404, "not_found"], path);
    }
    assert.deepEqual(await refusal("PUT", `/store/inventory/${id}`, { body: { quantity: 1 } }), [404, "not_found"]);
  }
});

test("an identifier too large for a JSON number is never reported as another one", async () => {
  const { id } = await newPet(shop, categoryId);
  const { id: projectId } = await made<{ id: number }>(shop, "POST", "/projects", { name: "Luna", slug: "luna" });
  for (const unknown of ["9007199254740993", "-9007199254740993", "9223372036854775807"]) {
    const inPaths = ["/pets/", "/categories/", "/store/orders/", "/store/inventory/", "/projects/", `/projects/${projectId}/deployments/`];
    const below = ["/deployments/1", "/domains/www.luna.test"].map((path) => `/projects/${unknown}${path}`);
    const refused: [method: string, path: string, body?: string][] = [
      ...[...inPaths.map((path) => path + unknown), ...below].map((path): [string, string] => ["GET", path]),
      ["DELETE", `/pets/${unknown}`],
      ["PUT", `/store/inventory/${unknown}`, `{"quantity": 1}`],
      ["POST", "/pets", `{"name": "Rex", "categoryId": ${unknown}}`],
      ["POST", "/pets/batch", `[{"name": "Rex", "categoryId": ${unknown}}]`],
      ["PATCH", `/pets/${id}`, `{"categoryId": ${unknown}}`],
      ["POST", "/store/orders", `{"petId": ${unknown}}`],
    ];
    for (const [method, path, body] of refused) {
      const answer = await shop.ask<Failure>(method, path, { body });
      assert.ok(answer.status === 404 || answer.status === 422, `${method} ${path}: ${answer.status}`);
      assert.doesNotMatch(answer.body.message.replaceAll(unknown, ""), /\d{4}/, `${method} ${path}`);
    }
  }
});

test("an encoded identifier is the identifier, and an empty one is no path", async () => {
  const { id } = await newPet(shop, categoryId);
  const encoded = [...String(id)].map((digit) => `%3${digit}`).join("");
  assert.equal((await shop.ask<Pet>("GET", `/pets/${encoded}`)).body.id, id);
  for (const method of ["GET", "PUT", "DELETE"]) {
    assert.deepEqual(await refusal(method, "/pets/"), [404, "not_found"]);
    assert.deepEqual(await refusal(method, "/store/orders/"), [404, "not_found"]);
  }
  assert.deepEqual(await refusal("POST", "/store/inventory//adjustments", { body: { delta: 1 } }), [404, "not_found"]);
});

test("an unknown identifier in a body is a 422 unknown_reference, and one beyond int64 or no integer a 400", async () => {
  const { id } = await newPet(shop, categoryId);
  for (const unknown of ["0", "-1", "999999", "9007199254740993", "9223372036854775807", "-9223372036854775808"]) {
    const pet = `{"name": "Rex", "categoryId": ${unknown}}`;
    assert.deepEqual(await refusal("POST", "/pets", { body: pet }), [422, "unknown_reference"], unknown);
    assert.deepEqual(await refusal("PUT", `/pets/${id}`, { body: pet }), [422, "unknown_reference"], unknown);
    assert.deepEqual(await refusal("PATCH", `/pets/${id}`, { body: `{"categoryId": ${unknown}}` }), [422, "unknown_reference"]);
    assert.deepEqual(await refusal("POST", "/pets/batch", { body: `[${pet}]` }), [422, "unknown_reference"], unknown);
    assert.deepEqual(await refusal("POST", "/store/orders", { body: `{"petId": ${unknown}}` }), [422, "unknown_reference"], unknown);
  }
  for (const wrong of ["9223372036854775808", "-9223372036854775809", "1e400", "1.5", '"1"', "true", "[]", "{}", "null"]) {
    const pet = `{"name": "Rex", "categoryId": ${wrong}}`;
    assert.deepEqual(await refusal("POST", "/pets", { body: pet }), [400, "invalid_request"], wrong);
    if (wrong === "null") continue; // a petId may be left out
    assert.deepEqual(await refusal("POST", "/store/orders", { body: `{"petId": ${wrong}}` }), [400, "invalid_request"], wrong);
  }
});

test("filtering by an unknown identifier gives an empty list, and by an invalid one a 400", async () => {
  const filters = ["/pets?id=", "/pets?categoryId=", "/store/orders?petId="];
  for (const filter of filters) {
    for (const id of ["0", "-1", "999999", "9223372036854775807", "-9223372036854775808"]) {
      assert.deepEqual((await shop.ask("GET", filter + id)).body, [], filter + id);
    }
    for (const id of ["", "01", "1e3", "9223372036854775808", "x"]) {
      assert.deepEqual(await refusal("GET", filter + id), [400, "invalid_request"], filter + id);
    }
  }
});

test("unknown fields of a body are a 400 that names each of them", async () => {
  const body = `{"name": "Rex", "categoryId": ${categoryId}, "colour": "red", "__proto__": {"status": "sold"}, "constructor": 1}`;
  const { status, body: error } = await shop.ask<Failure>("POST", "/pets", { body });
  assert.equal(status, 400);
  assert.deepEqual(error.details?.map(({ path }) => path).toSorted(), ["body.__proto__", "body.colour", "body.constructor"]);
  const patch = await shop.ask<Failure>("PATCH", `/categories/${categoryId}`, { body: { id: 7 } });
  assert.deepEqual([patch.status, patch.body.details?.[0]?.path], [400, "body.id"]);
  const batch = await shop.ask<Failure>("POST", "/pets/batch", {
    body: [
      { name: "A", categoryId },
      { name: "B", categoryId, x: 1 },
    ],
  });
  assert.deepEqual([batch.status, batch.body.details?.[0]?.path], [400, "body[1].x"]);
});

test("a query that is not UTF-8 is a 400, in any parameter, and other percent signs are read as they are", async () => {
  for (const query of ["q=%E0%A4", "name=%ff", "%C0%80=1", "q=a%80b", "cursor=%ed%a0%80"]) {
    const path = query.startsWith("name") ? "/categories" : "/pets";
    assert.deepEqual(await refusal("GET", `${path}?${query}`), [400, "invalid_request"], query);
  }
  for (const query of ["q=%C3%A9", "q=100%", "q=%zz%C3%A9", "q=%F0%9F%90%B6"])
    assert.equal((await shop.ask("GET", `/pets?${query}`)).status, 200, query);
});

test("unknown query parameters, and one given twice that may be given once, are a 400 that names it", async () => {
  for (const path of ["/pets?colour=red", "/pets/1?x=1", "/categories?q=a", "/store/orders?q=a", "/account?x", "/pets?__proto__=1"]) {
    assert.deepEqual(await refusal("GET", path), [400, "invalid_request"], path);
  }
  assert.deepEqual(await refusal("POST", "/pets?dryRun=1", { body: { name: "Rex", categoryId } }), [400, "invalid_request"]);
  const twice = await shop.ask<Failure>("GET", "/pets?sort=name&sort=id");
  assert.deepEqual([twice.status, twice.body.details?.[0]?.path], [400, "query.sort"]);
});

test("limit is 1 to 100, and only in canonical decimals", async () => {
  for (const limit of ["0", "101", "-1", "1.5", "", "x", "1e1", "010"]) {
    assert.deepEqual(await refusal("GET", `/pets?limit=${limit}`), [400, "invalid_request"], limit);
  }
  for (const limit of ["1", "100"]) assert.equal((await shop.ask("GET", `/pets?limit=${limit}`)).status, 200);
});

test("filters take the values that are described, and nothing else", async () => {
  for (const path of [
    "/pets?status=Sold",
    "/pets?status=",
    "/pets?sort=status",
    "/store/orders?complete=1",
    "/store/orders?sort=name",
    "/store/inventory?status=sold&status=x",
    "/categories?name=",
  ]) {
    assert.deepEqual(await refusal("GET", path), [400, "invalid_request"], path);
  }
  const ids = (count: number) => Array.from({ length: count }, (_, i) => `id=${i + 1}`).join("&");
  assert.equal((await shop.ask("GET", `/pets?${ids(100)}`)).status, 200);
  assert.deepEqual(await refusal("GET", `/pets?${ids(101)}`), [400, "invalid_request"]);
});

test("every response carries its own X-Request-Id", async () => {
  const asked = [shop.ask("GET", "/pets"), shop.ask("GET", "/pets", { key: "" }), shop.ask("GET", "/nothing"), shop.ask("PUT", "/pets")];
  const outside = ["/", "/healthz", "/openapi.json", "/nowhere"].map((path) => ask(shop.address + path, "GET"));
  const ids = (await Promise.all([...asked, ...outside])).map(({ headers }) => headers.get("x-request-id"));
  assert.ok(ids.every((id) => id !== null && /^[\w-]{8,}$/.test(id)));
  assert.equal(new Set(ids).size, ids.length);
});

test("a method that a path does not have is a 405 with Allow", async () => {
  const allowed = {
    "/pets": "GET, HEAD, OPTIONS, POST",
    "/pets/batch": "OPTIONS, POST",
    "/pets/1": "DELETE, GET, HEAD, OPTIONS, PATCH, PUT",
    "/store/inventory/1": "DELETE, GET, HEAD, OPTIONS, PUT",
    "/store/inventory/1/adjustments": "OPTIONS, POST",
    "/account": "GET, HEAD, OPTIONS",
  };
  for (const [path, allow] of Object.entries(allowed)) {
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter((one) => !allow.split(", ").includes(one))) {
      const { status, headers, body } = await shop.ask<Failure>(method, path, method === "POST" ? { body: {} } : {});
      assert.equal(status, 405, `${method} ${path}`);
      assert.equal(headers.get("allow"), allow);
      if (method !== "HEAD") assert.equal(body.code, "method_not_allowed");
    }
  }
});

test("a path that does not exist is a 404, whatever the method; case and a slash at the end matter", async () => {
  for (const path of ["/nothing", "/Pets", "/pets/1/x", "/store", "/pets/batch/", "/categories/", "/usage/x"]) {
    for (const method of ["GET", "POST", "DELETE"]) assert.deepEqual(await refusal(method, path), [404, "not_found"], path);
  }
});

test("406 only if Accept excludes JSON", async () => {
  const accepted = [
    "*/*",
    "application/json",
    "application/*",
    "text/html, */*;q=0.1",
    "APPLICATION/JSON;q=0.5",
    "",
    "text/html,application/json",
  ];
  for (const accept of accepted) assert.equal((await shop.ask("GET", "/pets", { headers: { accept } })).status, 200, accept);
  for (const accept of ["text/html", "application/json;q=0", "application/json;q=0, */*", "application/xml, text/*", "*/*;q=0"]) {
    assert.deepEqual(await refusal("GET", "/pets", { headers: { accept } }), [406, "not_acceptable"], accept);
  }
});

test("names are trimmed, then measured: 1 to 200 characters, and a wide character is one", async () => {
  const name = async (given: string) => (await shop.ask<Pet>("POST", "/pets", { body: { name: given, categoryId } })).body.name;
  assert.equal(await name("  Rex\t\n\u3000"), "Rex");
  assert.equal(await name(` ${"x".repeat(200)} `), "x".repeat(200));
  assert.equal(await name("🐶".repeat(200)), "🐶".repeat(200));
  for (const wrong of ["", "   ", "\u00a0", "x".repeat(201), "🐶".repeat(201), "a\u0000b"]) {
    assert.deepEqual(
      await refusal("POST", "/pets", { body: { name: wrong, categoryId } }),
      [400, "invalid_request"],
      JSON.stringify(wrong),
    );
  }
  for (const wrong of ["a\nb", "a\u0001b", "a\u001bb", "\u200b", " \u00ad\u2060 ", "\u200b\tRex", "\u3164", "\ufe0f\u{e0041}\ufff9"]) {
    const [status, code] = await refusal("POST", "/categories", { body: { name: wrong } });
    assert.deepEqual([status, code], [400, "invalid_request"], JSON.stringify(wrong));
  }
  for (const right of ["\u200bRex", "👩‍👩‍👧", "❤️", "a\u00a0b", "\u00adRex \u200b"]) assert.equal(await name(` ${right}\r\n`), right);
  const half = String.raw`{"name": "\ud83d", "categoryId": ${categoryId}}`;
  assert.deepEqual(await refusal("POST", "/pets", { body: half }), [400, "invalid_request"]);
});

test("a description has up to 2,000 characters after trimming", async () => {
  const long = { name: "Cats", description: ` ${"🐈".repeat(2_000)} ` };
  const { body } = await shop.ask<{ description: string }>("POST", "/categories", { body: long });
  assert.equal(body.description, "🐈".repeat(2_000));
  const tooLong = { name: "Birds", description: "x".repeat(2_001) };
  assert.deepEqual(await refusal("POST", "/categories", { body: tooLong }), [400, "invalid_request"]);
});

test("a ship date is RFC 3339 with a zone, and answered in UTC", async () => {
  const shipDate = async (given: string) => (await shop.ask<Order>("POST", "/store/orders", { body: { shipDate: given } })).body.shipDate;
  assert.equal(await shipDate("2026-12-24T10:00:00+02:00"), "2026-12-24T08:00:00Z");
  assert.equal(await shipDate("2026-12-24t10:00:00.250z"), "2026-12-24T10:00:00.250Z");
  const wrong = ["2026-12-24", "2026-12-24T10:00:00", "2026-02-30T10:00:00Z", "2026-12-24T25:00:00Z", "2026-12-24 10:00:00Z", "", "soon"];
  for (const text of wrong)
    assert.deepEqual(await refusal("POST", "/store/orders", { body: { shipDate: text } }), [400, "invalid_request"], text);
});

test("quantities are whole numbers in their bounds", async () => {
  const { id } = await newPet(shop, categoryId);
  for (const quantity of [0, -1, 1.5, 2_147_483_648, "1", true]) {
    assert.deepEqual(await refusal("POST", "/store/orders", { body: { quantity } }), [400, "invalid_request"], String(quantity));
  }
  for (const quantity of [-1, 1.5, 2_147_483_648, "1", null]) {
    assert.deepEqual(await refusal("PUT", `/store/inventory/${id}`, { body: { quantity } }), [400, "invalid_request"], String(quantity));
  }
  assert.equal((await made<Order>(shop, "POST", "/store/orders", { quantity: 2_147_483_647 })).quantity, 2_147_483_647);
  assert.equal((await shop.ask("PUT", `/store/inventory/${id}`, { body: { quantity: 2_147_483_647 } })).status, 201);
});

test("POST answers 201 with Location, which is where the resource is; DELETE answers 204 with nothing", async () => {
  const bodies = { "/categories": { name: "Fish" }, "/pets": { name: "Rex", categoryId }, "/store/orders": {} };
  for (const [path, body] of Object.entries(bodies)) {
    const created = await shop.ask<{ id: number }>("POST", path, { body });
    const location = created.headers.get("location");
    assert.deepEqual([created.status, location], [201, `/v1${path}/${created.body.id}`]);
    const read = await ask(shop.address + location, "GET", { key: shop.key });
    assert.deepEqual(read.body, created.body);
    const gone = await shop.ask("DELETE", `${path}/${created.body.id}`);
    assert.deepEqual([gone.status, gone.body, gone.headers.get("content-type")], [204, "", null]);
    assert.equal((await shop.ask("GET", `${path}/${created.body.id}`)).status, 404);
  }
});

test("identifiers are positive, below 2^53, and never assigned twice", async () => {
  const seen = new Set<number>();
  for (let i = 0; i < 5; i++) {
    const { id } = await newPet(shop, categoryId);
    assert.ok(Number.isSafeInteger(id) && id > 0 && !seen.has(id));
    seen.add(id);
    await made(shop, "DELETE", `/pets/${id}`);
  }
});
