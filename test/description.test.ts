import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { descriptionOf } from "../src/app/description.ts";
import { loadSettings } from "../src/app/settings.ts";
import { bodyChecker, operationsIn, type Document } from "./support/description.ts";
import type { Failure } from "./support/models.ts";
import { ask, startService, type TestService } from "./support/service.ts";

const root = new URL("../", import.meta.url);
const committed = JSON.parse(readFileSync(new URL("openapi.json", root), "utf8")) as Document;
/** With what the committed file leaves out. */
const served = JSON.parse(JSON.stringify(descriptionOf(loadSettings({})))) as Document;
const operations = operationsIn(served);
const wrongWith = bodyChecker(committed);

let shop: TestService;
before(async () => {
  shop = await startService();
});
after(() => shop.close());

/** The description as the repository has it; each operation must have had its code samples, and its refusals their examples. */
function withoutSamples(whole: Document): Document {
  for (const item of Object.values(whole.paths)) {
    for (const operation of Object.values(item)) {
      assert.equal(operation["x-codeSamples"].length, 5, operation.operationId);
    }
  }
  const omitted = new Set(["x-codeSamples", "examples"]);
  const text = JSON.stringify(whole, (name, value: unknown) => (omitted.has(name) ? undefined : value));
  return JSON.parse(text) as Document;
}

test("what the service serves is the description of the repository with the code samples, as JSON and as YAML", async () => {
  const json = await ask(`${shop.address}/openapi.json`, "GET");
  assert.equal(json.headers.get("content-type"), "application/json; charset=utf-8");
  const yaml = await ask<string>(`${shop.address}/openapi.yaml`, "GET");
  assert.equal(yaml.headers.get("content-type"), "application/yaml; charset=utf-8");
  assert.deepEqual(parse(yaml.body), json.body);
  assert.deepEqual(withoutSamples(json.body as Document), committed);
});

test("the description is served compressed, and not again to a client that has it", async () => {
  const url = `${shop.address}/openapi.json`;
  const answer = await fetch(url, { headers: { "accept-encoding": "gzip" } });
  assert.equal(answer.headers.get("content-encoding"), "gzip");
  assert.deepEqual(withoutSamples((await answer.json()) as Document), committed);
  const again = await fetch(url, { headers: { "if-none-match": answer.headers.get("etag") ?? "" } });
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});

test("the committed description has at most 280,000 bytes", () => {
  assert.ok(readFileSync(new URL("openapi.json", root)).byteLength <= 280_000);
});

test("each enumeration but the order of a list, and each object, appears once, under a name and with its type; no model has a default", () => {
  const wrong: string[] = [];
  const look = (part: unknown, path: string, isNamed: boolean): void => {
    if (typeof part !== "object" || part === null) return;
    const schema = part as { enum?: unknown; type?: unknown; properties?: unknown; default?: unknown };
    const isSort = Array.isArray(schema.enum) && schema.enum.includes("-id");
    if (Array.isArray(schema.enum) && (isNamed === isSort || schema.type === undefined)) wrong.push(`${path}: enum`);
    if (typeof schema.properties === "object" && schema.type === "object" && !isNamed) wrong.push(`${path}: object`);
    if ("default" in schema && path.startsWith("#/components/schemas")) wrong.push(`${path}: default`);
    for (const [name, member] of Object.entries(part)) {
      if (name !== "example" && name !== "examples") look(member, `${path}/${name}`, path === "#/components/schemas");
    }
  };
  look(committed, "#", false);
  assert.deepEqual(wrong, []);
  assert.ok(committed.info.contact);
});

test("each JSON body and each JSON answer is a named model", () => {
  const named = "#/components/schemas/";
  const media = operations.flatMap(({ operationId, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.entries(part?.content ?? {}).map((entry) => [operationId, ...entry] as const),
    ),
  );
  const anonymous = media.filter(([, , { schema }]) => !String(schema["$ref"]).startsWith(named));
  // A file and a stream are not made of fields.
  assert.deepEqual(
    anonymous.map(([operationId, type]) => [operationId, type]),
    [
      ["addPhoto", "application/octet-stream"],
      ["streamEvents", "text/event-stream"],
      ["createDeployment", "application/octet-stream"],
    ],
  );
});

test("nothing in the description is empty or only for the service itself", () => {
  const text = readFileSync(new URL("openapi.json", root), "utf8");
  assert.doesNotMatch(text, /"description": ""|"x-text"|"x-visible"|"x-pattern"/);
});

test("answers that are the same for all operations appear once: 401, 406, 413, 415, 429, 431, 500 and 503", () => {
  const shared = new Set(["401", "406", "413", "415", "429", "431", "500", "503"]);
  const responses = Object.values(committed.paths).flatMap((item) => Object.values(item).flatMap((each) => Object.entries(each.responses)));
  const references = Map.groupBy(
    responses.filter(([status]) => shared.has(status)),
    ([status]) => status,
  );
  assert.equal(references.size, shared.size);
  for (const [status, each] of references) assert.equal(new Set(each.map(([, response]) => JSON.stringify(response))).size, 1, status);
});

test("every operation describes the headers that any request may have, as shared parameters", () => {
  for (const { operationId, parameters } of operations) {
    const found = parameters.filter((parameter) => ["X-Request-Id", "traceparent"].includes(parameter.name));
    assert.deepEqual(
      found.map((parameter) => [parameter.in, parameter.required]),
      [
        ["header", undefined],
        ["header", undefined],
      ],
      operationId,
    );
  }
});

test("every operation describes the 431 of a request line with headers that are too large", () => {
  for (const { operationId, responses } of operations) {
    const { content } = responses["431"] ?? assert.fail(operationId);
    assert.deepEqual(Object.keys(content?.["application/json"]?.examples ?? {}), ["headers_too_large"]);
  }
});

test("the description is OpenAPI 3.0.3 of the Pet Store API, version 1.0.0, at the relative /v1", () => {
  assert.equal(committed.openapi, "3.0.3");
  assert.equal(committed.info.title, "Pet Store API");
  assert.equal(committed.info.version, "1.0.0");
  assert.deepEqual(
    committed.servers.map(({ url }) => url),
    ["/v1"],
  );
});

test("where PUBLIC_URL is set, the served description has its origin in `servers`, in JSON and in YAML", async (t) => {
  const named = await startService({ env: { PUBLIC_URL: "https://api.shop.example" } });
  t.after(() => named.close());
  const { body } = await ask<Document>(`${named.address}/openapi.json`, "GET");
  assert.deepEqual(
    body.servers.map(({ url }) => url),
    ["https://api.shop.example/v1"],
  );
  const yaml = await fetch(`${named.address}/openapi.yaml`);
  assert.match(await yaml.text(), /^servers:\n {2}- url: https:\/\/api\.shop\.example\/v1$/m);
});

test("npm run check lints the description with redocly, without exceptions", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { scripts: Record<string, string> };
  assert.match(scripts["check"] ?? "", /check:description/);
  assert.match(
    scripts["check:description"] ?? "",
    /redocly lint --extends=recommended-strict openapi\.json && node .*test\/spectral\.test\.ts$/,
  );
  assert.doesNotMatch(scripts["check:description"] ?? "", /--skip/);
});

test("a key may be sent in either way that the description names", async () => {
  assert.deepEqual(
    Object.values(committed.components.securitySchemes).map(({ description: _words, ...scheme }) => scheme),
    [
      { type: "http", scheme: "bearer" },
      { type: "apiKey", in: "header", name: "X-API-Key" },
    ],
  );
  assert.equal(committed.security.length, 2);
  const asKey = await shop.ask("GET", "/categories", { key: "", headers: { "x-api-key": shop.key } });
  assert.equal(asKey.status, 200);
});

test("the models have exactly the specification's fields", () => {
  const fields = (name: string) => {
    const { properties, required = [] } = committed.components.schemas[name] as { properties: object; required?: string[] };
    return [Object.keys(properties).toSorted(), required.toSorted()];
  };
  assert.deepEqual(fields("NewPet"), [
    ["categoryId", "name", "status"],
    ["categoryId", "name"],
  ]);
  assert.deepEqual(fields("Pet"), [
    ["categoryId", "id", "name", "status"],
    ["categoryId", "id", "name", "status"],
  ]);
  assert.deepEqual(fields("NewCategory"), [["description", "name"], ["name"]]);
  assert.deepEqual(fields("Category"), [
    ["description", "id", "name"],
    ["id", "name"],
  ]);
  assert.deepEqual(fields("Order"), [["complete", "id", "petId", "quantity", "shipDate"], []]);
  assert.deepEqual(fields("InventoryItem"), [
    ["petId", "quantity", "status"],
    ["petId", "quantity", "status"],
  ]);
  assert.deepEqual(fields("InventoryUpdate"), [["quantity"], ["quantity"]]);
  assert.deepEqual(fields("Error"), [
    ["challenge", "code", "details", "message", "status"],
    ["code", "message", "status"],
  ]);
  assert.deepEqual(committed.components.schemas["PetStatus"], { type: "string", enum: ["available", "pending", "sold"] });
});

test("every refusal has an example of each of its codes, and each example is a valid Error of its status", () => {
  for (const operation of operations) {
    const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    for (const [status, { content }] of refusals) {
      const examples = Object.entries(content?.["application/json"]?.examples ?? {});
      assert.ok(examples.length > 0, `${operation.operationId} ${status}`);
      for (const [code, { value }] of examples) {
        assert.deepEqual(wrongWith(operation, Number(status), value), []);
        assert.equal((value as Failure).code, code);
        assert.equal((value as Failure).status, Number(status));
      }
    }
  }
});
