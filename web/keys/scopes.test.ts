import assert from "node:assert/strict";
import { test } from "node:test";
import * as service from "../../src/callers/keys/keys.ts";
import { areasBeside, defaultScopes, hasDefaultScopes, overlapHoursMax, publishableScopes, scopeAreas } from "./scopes.ts";

test("the choices for a new key are those that the service knows", () => {
  assert.deepEqual(scopeAreas.flatMap(({ scopes }) => scopes).toSorted(), service.scopes.toSorted());
  assert.deepEqual(defaultScopes.toSorted(), service.defaultScopes.toSorted());
  assert.deepEqual(publishableScopes, service.publishableScopes);
  assert.equal(overlapHoursMax, service.overlapHoursMax);
});

test("a key that may do everything but see customers and manage keys has the scopes of a new key", () => {
  assert.equal(hasDefaultScopes(defaultScopes, false), true);
  assert.equal(hasDefaultScopes(publishableScopes, true), true);
  assert.equal(hasDefaultScopes(publishableScopes, false), false);
  assert.equal(hasDefaultScopes([], true), false);
  assert.deepEqual(areasBeside(defaultScopes), []);
  assert.deepEqual(areasBeside([...defaultScopes, "contacts:read", "keys:write"]), ["contacts", "keys"]);
});
