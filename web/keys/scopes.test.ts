import assert from "node:assert/strict";
import { test } from "node:test";
import * as service from "../../src/callers/keys/keys.ts";
import { allScopes, hasAllScopes, overlapHoursMax, publishableScopes } from "./scopes.ts";

test("what can be chosen for a key is what the service knows", () => {
  assert.deepEqual(allScopes.toSorted(), service.scopes.toSorted());
  assert.deepEqual(publishableScopes, service.publishableScopes);
  assert.equal(overlapHoursMax, service.overlapHoursMax);
});

test("a key has all scopes when it has all that its kind may have", () => {
  assert.equal(hasAllScopes(allScopes, false), true);
  assert.equal(hasAllScopes(publishableScopes, true), true);
  assert.equal(hasAllScopes(publishableScopes, false), false);
  assert.equal(hasAllScopes([], true), false);
});
