import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readDescription } from "./description.ts";
import type { OpenApi, OperationObject, Parameter } from "./openapi.ts";

function described(object: Partial<OperationObject>, more: Partial<OpenApi> = {}) {
  const document: OpenApi = {
    info: { title: "Shop", version: "1.0.0" },
    paths: { "/pets": { get: { operationId: "listPets", tags: ["Animals"], responses: {}, ...object } } },
    ...more,
  };
  const description = readDescription(document);
  const operation = description.operations[0];
  assert.ok(operation);
  return { ...description, operation };
}

test("groups keep the order of their tags, and tags and groups without operations are left out", () => {
  const { groups } = described(
    {},
    {
      "x-tagGroups": [
        { name: "Store", tags: ["Orders"] },
        { name: "Pets", tags: ["Categories", "Animals"] },
      ],
    },
  );
  assert.deepEqual(
    groups.map(({ name, sections }) => [name, sections.map(({ tag }) => tag)]),
    [["Pets", ["Animals"]]],
  );
});

test("without groups every operation is still shown", () => {
  assert.equal(described({ tags: [] }).operations.length, 1);
});

test("an operation has a panel unless x-hideTryItPanel is true", () => {
  assert.equal(described({}).operation.hasPanel, true);
  assert.equal(described({ "x-hideTryItPanel": false }).operation.hasPanel, true);
  assert.equal(described({ "x-hideTryItPanel": true }).operation.hasPanel, false);
});

test("the promise of a stability level moves from the description to the badge", () => {
  const { operation } = described({ "x-stability": "beta", description: "First.\n\n**Beta**: may change.\n\nLast." });
  assert.deepEqual(operation.stability, { level: "beta", promise: "may change." });
  assert.equal(operation.description, "First.\n\nLast.");
});

test("a header that every operation takes is left out of each operation", () => {
  const parameters: Parameter[] = [
    { name: "traceparent", in: "header", "x-of-every-operation": true },
    { name: "If-Match", in: "header" },
  ];
  assert.deepEqual(
    described({ parameters }).operation.parameters.map(({ name }) => name),
    ["If-Match"],
  );
});

test("an unknown stability level leaves the description unchanged", () => {
  const { operation } = described({ "x-stability": "(", description: "**Beta**: text." });
  assert.equal(operation.stability, undefined);
  assert.equal(operation.description, "**Beta**: text.");
});

test("a deprecated operation has its sunset date and its successor", () => {
  const { operation } = described({ deprecated: true, "x-sunset": "2027-12-31T00:00:00Z", "x-successor": "/pets?id={petId}" });
  assert.deepEqual(operation.deprecation, {
    sunset: new Date("2027-12-31T00:00:00Z"),
    successor: { id: "listPets", request: "GET /pets?id={petId}" },
  });
  assert.deepEqual(described({ deprecated: true }).operation.deprecation, {});
});

test("successes and errors are separated, and header references are resolved", () => {
  const { operation } = described(
    {
      responses: {
        "200": { description: "Good", headers: { ETag: { $ref: "#/components/headers/ETag" } } },
        "304": { description: "Same" },
        "429": { description: "Wait" },
        default: { description: "Other" },
      },
    },
    { components: { headers: { ETag: { description: "The version" } } } },
  );
  assert.deepEqual(
    operation.answers.map(({ status }) => status),
    ["200", "304"],
  );
  assert.deepEqual(operation.answers[0]?.headers, { ETag: { description: "The version" } });
  assert.deepEqual(
    operation.errors.map(({ status }) => status),
    ["429", "default"],
  );
});

test("in the service's description every operation is in a group, and every JSON body has an example", () => {
  const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as OpenApi;
  const { operations } = readDescription(document);
  const expected = Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  assert.deepEqual(operations.map(({ id }) => id).toSorted(byText), expected.map(String).toSorted(byText));
  for (const { id, body } of operations) {
    for (const content of body) assert.ok(!content.type.endsWith("json") || content.example !== undefined, id);
  }
});

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
