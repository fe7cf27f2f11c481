import assert from "node:assert/strict";
import { test } from "node:test";
import * as service from "../../src/callers/keys/keys.ts";
import { allScopes, hasAllScopes, overlapHoursMax, publishableScopes } from "./scopes.ts";

test("the choices for a new key are those that the service knows", () => {
  assert.deepEqual(allScopes.toSorted(), service.scopes.toSorted());
  assert.deepEqual(publishableScopes, service.publishableScopes);
  assert.equal(overlapHoursMax, service.overlapHoursMax);
});

test("a key with every scope of its kind has all scopes", () => {
  assert.equal(hasAllScopes(allScopes, false), true);
  assert.equal(hasAllScopes(publishableScopes, true), true);
  assert.equal(hasAllScopes(publishableScopes, false), false);
  assert.equal(hasAllScopes([], true), false);
});
