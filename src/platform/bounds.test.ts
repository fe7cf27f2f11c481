import assert from "node:assert/strict";
import { test } from "node:test";
import { caps, openBounds } from "./bounds.ts";
import { queues } from "./queues.ts";

test("every queue bounds its places, one turn, what waits in all and for each key, and the wait", () => {
  for (const [name, { by: _by, busy, ...bounds }] of Object.entries(queues)) {
    for (const [bound, value] of Object.entries(bounds)) assert.ok(Number.isSafeInteger(value) && value >= 0, `${name}.${bound}`);
    assert.ok(bounds.max > 0 && bounds.turnMs > 0 && bounds.waitMs > 0, name);
    assert.ok(bounds.waitingMaxPerKey <= bounds.waitingMax, name);
    assert.match(busy, /^[A-Z].*\.$/, name);
  }
});

test("every queue has the same three metrics, and every cap counts its refusals", () => {
  const metrics = openBounds().metrics();
  const labels = (name: string, label: string) =>
    metrics.find((metric) => metric.name === name)?.samples.map((sample) => sample.labels?.[label]);
  for (const name of ["petstore_turns_running", "petstore_turns_waiting", "petstore_turns_refused_total"])
    assert.deepEqual(labels(name, "of"), Object.keys(queues));
  assert.deepEqual(labels("petstore_bound_refusals_total", "reason"), [...caps]);
});
