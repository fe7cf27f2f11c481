import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import recorded from "../src/app/error-examples.json" with { type: "json" };
import { statusOf, type ProblemCode } from "../src/platform/error-table.ts";
import type { Failure } from "./support/models.ts";
import { sendRaw } from "./support/raw.ts";
import { startService, type Asked, type TestService } from "./support/service.ts";
import { fillWithExamples, made } from "./support/shop.ts";

const now = Date.UTC(2026, 11, 24, 10);
let shop: TestService;
before(async () => {
  shop = await startService({ clock: () => now });
  await fillWithExamples(shop);
  await shop.ask("POST", "/categories", { headers: { "idempotency-key": "used" }, body: { name: "Horses" } });
});
after(() => shop.close());

test("every recorded 400 and 422 has details, and no other refusal does", () => {
  let seen = 0;
  for (const [operationId, examples] of Object.entries(recorded)) {
    for (const [code, example] of Object.entries(examples)) {
      const isInput = [400, 422].includes(statusOf(code as ProblemCode));
      const { details = [] } = example as Partial<Failure>;
      assert.equal(details.length > 0, isInput, `${operationId} ${code}`);
      for (const detail of details) assert.ok(detail.path !== "" && detail.message !== "");
      if (isInput) seen += 1;
    }
  }
  assert.ok(seen > 40);
});

const json = { "content-type": "application/json" };

/** Requests with the path of the one detail that their refusal has. */
const refusals: [title: string, line: string, asked: Asked, status: number, path: string][] = [
  ["a bad path id", "GET /pets/01", {}, 400, "path.petId"],
  ["a path that is no URL path", "GET /pets/%zz", {}, 400, "path"],
  ["a bad query parameter", "GET /pets?limit=0", {}, 400, "query.limit"],
  ["an unknown query parameter", "GET /pets?colour=red", {}, 400, "query.colour"],
  ["a query parameter that is given twice", "GET /pets?sort=id&sort=name", {}, 400, "query.sort"],
  ["a sort that does not go with a search", "GET /pets?q=r&sort=id", {}, 400, "query.sort"],
  ["a cursor that is none", "GET /pets?cursor=x", {}, 400, "query.cursor"],
  ["a body that is not JSON", "POST /pets", { body: "{" }, 400, "body"],
  ["a body that is not UTF-8", "POST /pets", { body: Buffer.from([0x22, 0xff, 0x22]), headers: json }, 400, "body"],
  ["no body", "POST /pets", { headers: json, body: "" }, 400, "body"],
  ["a body that nests too deep", "POST /pets", { body: "[".repeat(40) }, 400, "body"],
  ["a body of too many values", "POST /pets", { body: `[${"1,".repeat(20_001)}1]` }, 400, "body"],
  ["a body that is no object", "POST /pets", { body: [] }, 400, "body"],
  ["an identifier in the body that is not the path's", "PUT /store/orders/1", { body: { id: 2 } }, 400, "body.id"],
  ["a count beyond what may be held", "POST /store/inventory/1/adjustments", { body: { delta: 2_147_483_647 } }, 400, "body"],
  ["two keys that contradict each other", "GET /pets", { headers: { "x-api-key": "other" } }, 400, "header.X-API-Key"],
  ["a bad Idempotency-Key", "POST /categories", { body: { name: "A" }, headers: { "idempotency-key": "" } }, 400, "header.Idempotency-Key"],
  ["a reused one", "POST /categories", { body: { name: "A" }, headers: { "idempotency-key": "used" } }, 422, "header.Idempotency-Key"],
  ["an unknown category", "POST /pets", { body: { name: "Rex", categoryId: 99 } }, 422, "body.categoryId"],
  ["an unknown category in a PATCH", "PATCH /pets/1", { body: { categoryId: 99 } }, 422, "body.categoryId"],
  ["an unknown animal", "POST /store/orders", { body: { petId: 99 } }, 422, "body.petId"],
  ["an unknown animal in a PUT", "PUT /store/orders/1", { body: { petId: 99 } }, 422, "body.petId"],
  ["a slug that is none", "POST /projects", { body: { name: "A", slug: "-" } }, 400, "body.slug"],
  ["a host name that is none", "POST /projects/1/domains", { body: { hostname: "a b" } }, 400, "body.hostname"],
];

for (const [title, line, asked, status, path] of refusals) {
  test(`the details say where it is: ${title}`, async () => {
    const [method = "", target = ""] = line.split(" ");
    const reply = await shop.ask<Failure>(method, target, asked);
    assert.deepEqual([reply.status, reply.body.details?.map((detail) => detail.path)], [status, [path]], reply.body.message);
  });
}

test("a batch with unknown categories gets an error that names each pet concerned, at most 20", async () => {
  const pets = Array.from({ length: 30 }, (_, i) => ({ name: "Rex", categoryId: i === 1 ? 1 : 99 }));
  const { status, body } = await shop.ask<Failure>("POST", "/pets/batch", { body: pets });
  assert.deepEqual([status, body.details?.length], [422, 20]);
  assert.deepEqual(body.details?.slice(0, 2), [
    { path: "body[0].categoryId", message: "there is no category 99" },
    { path: "body[2].categoryId", message: "there is no category 99" },
  ]);
});

test("a replay of a stored refusal has its details", async () => {
  const asked = { headers: { "idempotency-key": "kept" }, body: { name: "Rex", categoryId: 99 } };
  const [first, again] = [await shop.ask<Failure>("POST", "/pets", asked), await shop.ask<Failure>("POST", "/pets", asked)];
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(again.body, first.body);
  assert.equal(again.body.details?.[0]?.path, "body.categoryId");
});

const wire: [title: string, text: string, path: string][] = [
  ["what is not HTTP", "BREW /v1/pets HTTP/1.1\r\nhost: a\r\n\r\n", "request"],
  ["no Host", "GET /v1/pets HTTP/1.1\r\n\r\n", "header.Host"],
  ["two Hosts", "GET /v1/pets HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", "header.Host"],
  ["another Host than the dashboard's", "GET /dashboard/v1/keys HTTP/1.1\r\nhost: evil.example\r\n\r\n", "header.Host"],
  [
    "a body that comes in a coding",
    "POST /v1/pets HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "header.Transfer-Encoding",
  ],
];

for (const [title, text, path] of wire) {
  test(`the details say where it is: ${title}`, async () => {
    const answer = await sendRaw(shop.address, text.replace("\r\n\r\n", `\r\nx-api-key: ${shop.key}\r\n\r\n`));
    const { details } = JSON.parse(answer.body) as Failure;
    assert.deepEqual([answer.status, details?.map((detail) => detail.path)], [400, [path]], answer.body);
  });
}

test("the refusal of one project too many has details", async () => {
  const { key } = await shop.newAccount();
  for (let i = 0; i < 100; i++) await made(shop, "POST", "/projects", { name: "P", slug: `project-${i}` }, key);
  const { status, body } = await shop.ask<Failure>("POST", "/projects", { key, body: { name: "P", slug: "one-more" } });
  assert.deepEqual([status, body.details?.length], [400, 1]);
});
