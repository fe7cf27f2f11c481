import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { requestIdOf, traceparentOf } from "./request-ids.ts";

const withHeaders = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;

test("a caller's request id has 1 to 128 letters, digits, dots, dashes and underscores; any other is replaced by a new one", () => {
  for (const given of ["a", "A.b_c-9", "x".repeat(128)]) assert.equal(requestIdOf(withHeaders({ "x-request-id": given })), given);
  const wrong = ["", "x".repeat(129), "a b", "a, b", "a\n", "é", "<script>", '{"a":1}', "a/b"];
  for (const given of wrong) assert.match(requestIdOf(withHeaders({ "x-request-id": given })), /^[\w-]{8}-[0-9a-z]+$/, given);
  assert.notEqual(requestIdOf(withHeaders({})), requestIdOf(withHeaders({})));
});

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

test("a traceparent of W3C Trace Context is kept, one of a later version too", () => {
  for (const given of [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-00`, `cc-${trace}-${parent}-01-what.comes.later`]) {
    assert.equal(traceparentOf(withHeaders({ traceparent: given })), given);
  }
});

test("a traceparent that is not valid is ignored", () => {
  const wrong = [
    "",
    `ff-${trace}-${parent}-01`,
    `00-${"0".repeat(32)}-${parent}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}-1`,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01-${"x".repeat(65)}`,
    `cc-${trace}-${parent}-01-a\nb`,
    ` 00-${trace}-${parent}-01`,
  ];
  for (const given of wrong) assert.equal(traceparentOf(withHeaders({ traceparent: given })), undefined, given);
  assert.equal(traceparentOf(withHeaders({})), undefined);
});
