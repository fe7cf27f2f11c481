import assert from "node:assert/strict";
import { test } from "node:test";
import { Type, type TSchema } from "typebox";
import { readingOf, type DescribedOperation } from "../platform/http/operation.ts";
import { bodyValidator } from "../platform/http/validation.ts";
import { Problem } from "../platform/problem.ts";
import { apiOperations, dashboardOperations } from "./operations.ts";

type Keywords = Record<string, unknown>;

/** Keywords that no value breaks; `x-pattern` is checked elsewhere (test/described-patterns.test.ts). */
const alwaysHold = new Set(["nullable", "default", "description", "example", "x-pattern"]);
const notInFormat: Record<string, unknown> = { int64: 2 ** 63, int32: 2 ** 31, "date-time": "tomorrow" };

/** A value that breaks each keyword of a schema; undefined if its bound is one that no value breaks, such as a length of at least 0. */
const violations: Record<string, (bound: never, schema: Keywords) => unknown> = {
  type: (type: string) => (type === "object" ? [] : {}),
  enum: () => "none of these",
  properties: (properties: Keywords) => {
    const names = Object.keys(properties);
    return names.length > 0 ? Object.fromEntries(names.map((name) => [name, Symbol("no JSON")])) : undefined;
  },
  required: (names: string[]) => (names.length > 0 ? {} : undefined),
  additionalProperties: (isOpen: boolean) => (isOpen ? undefined : { "not a field of any operation": 1 }),
  items: () => [Symbol("no JSON")],
  minProperties: (least: number) => (least > 0 ? {} : undefined),
  minItems: (least: number) => (least > 0 ? [] : undefined),
  maxItems: (most: number) => Array.from({ length: most + 1 }, () => 1),
  minLength: (least: number) => (least > 0 ? "" : undefined),
  maxLength: (most: number) => "x".repeat(most + 1),
  pattern: (pattern: string) => ["!", "", "\0", "é".repeat(3)].find((text) => !new RegExp(pattern, "u").test(text)),
  format: (format: string) => notInFormat[format],
  "x-text": () => "a\0b",
  "x-visible": () => "\u200B",
  minimum: (least: number) => least - 1,
  maximum: (most: number) => most + 1,
};

test("a value that breaks any keyword of any operation's schemas gets a 400 that names the field", () => {
  const operations: DescribedOperation[] = [...apiOperations, ...dashboardOperations];
  const broken = new Set<string>();
  for (const operation of operations) {
    for (const schema of [operation.params, operation.query, operation.body]) {
      if (schema) for (const inner of schemasIn(schema)) for (const keyword of keywordsBrokenIn(operation, inner)) broken.add(keyword);
    }
  }
  assert.deepEqual([...broken].toSorted(), Object.keys(violations).toSorted(), "every keyword that is known here is in use");
});

/** Sends a violation of each keyword of one schema, as a field of a body. Returns the keywords. */
function keywordsBrokenIn(operation: DescribedOperation, schema: TSchema): string[] {
  const body = bodyValidator(Type.Object({ field: schema }), readingOf(operation));
  return Object.entries(schema as Keywords).flatMap(([keyword, bound]) => {
    if (alwaysHold.has(keyword)) return [];
    const where = `${operation.operationId}: ${keyword} ${JSON.stringify(bound)}`;
    const violation = (violations[keyword] ?? assert.fail(`${where} needs a violation`))(bound as never, schema as Keywords);
    if (violation === undefined) return [];
    const refusal = caught(() => body({ field: violation }));
    assert.ok(refusal instanceof Problem && refusal.code === "invalid_request", `${where}: ${String(refusal)}`);
    assert.match(refusal.details?.[0]?.path ?? "", /^body\.field\b/, where);
    return [keyword];
  });
}

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** A schema and all those within it. */
function schemasIn(schema: TSchema): TSchema[] {
  const { properties = {}, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  return [schema, ...[...Object.values(properties), ...(items ? [items] : [])].flatMap(schemasIn)];
}
