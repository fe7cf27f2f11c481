import assert from "node:assert/strict";
import { test } from "node:test";
import { readingOf, type DescribedOperation } from "../platform/http/operation.ts";
import { checkOf } from "../platform/http/value-checks.ts";
import { apiOperations, dashboardOperations } from "./operations.ts";

const operations: DescribedOperation[] = [...apiOperations, ...dashboardOperations];

test("the schemas of every operation compile, which a running service does at their first use", () => {
  let compiled = 0;
  for (const { operationId, params, query, body, method } of operations) {
    for (const [schema, reading] of [[params], [query], [body, readingOf({ method })]] as const) {
      if (schema === undefined) continue;
      assert.doesNotThrow(() => checkOf(schema, reading), operationId);
      compiled++;
    }
  }
  assert.ok(compiled > operations.length);
});
