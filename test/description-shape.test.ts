import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { dereferenced, operationsIn, type Document } from "./support/description.ts";

const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document;
const operations = operationsIn(document);
type Json = Record<string, unknown>;

/** Calls `look` with each object in a value, and the path to it. */
function walk(value: unknown, look: (part: Json, path: string) => void, path = "#"): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) look(value as Json, path);
  for (const [name, member] of Object.entries(value)) walk(member, look, `${path}/${name}`);
}

test("answers say that a later version may add fields, and bodies are closed", () => {
  for (const { operationId, requestBody, responses } of operations) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const { schema } of Object.values(content)) {
        walk(dereferenced(schema, document), (part, path) => {
          // without the keyword, the clients that openapi-generator makes for Go and for Java with OkHttp refuse unknown fields
          if (part["type"] === "object" && "properties" in part)
            assert.equal(part["additionalProperties"], true, `${operationId} ${status} ${path}`);
        });
      }
    }
    const body = requestBody?.content["application/json"];
    if (!body) continue;
    walk(dereferenced(body.schema, document), (part, path) => {
      if (part["type"] === "object" && "properties" in part) assert.equal(part["additionalProperties"], false, `${operationId} ${path}`);
    });
  }
});

test("each operation has one content type for its body, and one model for its success", () => {
  for (const { operationId, requestBody, responses } of operations) {
    assert.ok(Object.keys(requestBody?.content ?? {}).length <= 1, operationId);
    const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
    const models = new Set(successes.map(([, { content }]) => JSON.stringify(Object.values(content ?? {}).map(({ schema }) => schema))));
    assert.equal(models.size, 1, operationId);
  }
});

test("patterns mean the same in every language: they have no escapes or groups that only some know, and do not bound what people wrote in answers", () => {
  walk(document, (part, path) => {
    const { pattern } = part;
    if (typeof pattern !== "string") return;
    assert.doesNotMatch(pattern, /\\[uxp]\{|\\[upPbBdDwWkGzAZ]|\(\?[^:]|[^ -~]/, `${path} ${pattern}`);
    assert.match(pattern, /^\^.*\$$/, path);
  });
  const { name } = (document.components.schemas["Pet"] as { properties: Record<string, Json> }).properties;
  assert.deepEqual(Object.keys(name ?? {}), ["type", "description"]);
});

test("only the values that a client sends, or that never change, are closed lists", () => {
  const closed = Object.entries(document.components.schemas).filter(([, schema]) => "enum" in schema);
  assert.deepEqual(closed.map(([name]) => name).toSorted(), ["KeyScope", "PetStatus", "RedirectStatus", "UsageGrouping", "UsageInterval"]);
  const { code } = (document.components.schemas["Error"] as { properties: Record<string, Json> }).properties;
  assert.equal(code?.["type"], "string");
  assert.ok((code["x-extensible-enum"] as string[]).includes("insufficient_stock"));
  walk(document, (part, path) => assert.ok(!("oneOf" in part), path));
});

test("no model has a name that generators make from other models", () => {
  const names = Object.keys(document.components.schemas);
  const collisions = names.filter(
    (name) => names.some((other) => [`New${other}`, `Nullable${other}`].includes(name)) || /^Nullable|Type\d/.test(name),
  );
  // the specification has these names; docs/clients.md has the option that renames them
  assert.deepEqual(collisions.toSorted(), ["NewCategory", "NewPet", "NewPets"]);
});

test("the identifier in an answer is required, except in an order", () => {
  const answers = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {} }) => Object.values(content).map(({ schema }) => dereferenced(schema, document))),
  );
  walk(answers, (part) => {
    const { properties, required = [] } = part as { properties?: object; required?: string[] };
    if (properties === undefined || !("id" in properties)) return;
    assert.ok(required.includes("id") || "shipDate" in properties, JSON.stringify(part));
  });
});

test("links lead from each creation to the operations on the new resource", () => {
  const known = new Set(operations.map(({ operationId }) => operationId));
  const linked = operations.flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap((response) =>
      Object.values((response as { links?: Record<string, { operationId: string; parameters: Record<string, string> }> }).links ?? {}).map(
        (link) => ({ from: operationId, ...link }),
      ),
    ),
  );
  assert.ok(linked.every(({ operationId }) => known.has(operationId)));
  const found = (from: string, to: string) => linked.find((link) => link.from === from && link.operationId === to)?.parameters;
  assert.deepEqual(found("createOrder", "getOrder"), { orderId: "$response.body#/id" });
  assert.deepEqual(found("createPet", "updatePet"), { petId: "$response.body#/id" });
  assert.deepEqual(found("createDeployment", "getDeployment"), {
    projectId: "$request.path.projectId",
    deploymentId: "$response.body#/id",
  });
  assert.deepEqual(found("addDomain", "verifyDomain"), { projectId: "$request.path.projectId", hostname: "$response.body#/hostname" });
});
