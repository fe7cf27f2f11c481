import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { pino, stdTimeFunctions } from "pino";
import { openAccessLog } from "./access-log.ts";
import type { Exchange } from "./exchange.ts";

const plain = { id: "a-1", method: "GET", url: "/v1/pets?name=x", status: 200, caller: null, traceparent: undefined, isProbe: false };
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** The lines that the log writes for an exchange. */
function linesFor(exchange: Partial<Exchange>, level = "info"): unknown[] {
  const lines: string[] = [];
  const output = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  const log = pino({ level, base: undefined, timestamp: stdTimeFunctions.epochTime }, output);
  openAccessLog(log, () => 1_700_000_000_000)({ ...plain, ...exchange } as Exchange, 1.23456);
  return lines.map((line) => (assert.ok(line.endsWith("}\n")), JSON.parse(line) as unknown));
}

const common = { level: 30, time: 1_700_000_000_000, requestId: "a-1", method: "GET", path: "/v1/pets", status: 200, ms: 1.235 };

test("a line has the request, its answer and its caller", () => {
  const scopes = new Set<string>();
  assert.deepEqual(linesFor({}), [common]);
  assert.deepEqual(linesFor({ caller: { accountId: 3, keyId: 4, scopes } }), [{ ...common, accountId: 3, keyId: 4 }]);
  const person = { memberId: 5, sessionId: 6, confirmedAt: 0 };
  assert.deepEqual(linesFor({ caller: { accountId: 3, person, scopes } }), [{ ...common, accountId: 3, memberId: 5 }]);
  assert.deepEqual(linesFor({ traceparent }), [{ ...common, traceparent, traceId: traceparent.slice(3, 35) }]);
});

test("a line has the path unchanged, whatever characters it has", () => {
  for (const path of ['/"', "/\\", "/a\tb", "/\u001b[2J", "/é", "/\u2028", "/\ud800", "/ ~![]"]) {
    assert.deepEqual(linesFor({ url: `${path}?q` }), [{ ...common, path }]);
  }
});

test("probes are logged at the level debug only, and a log of the level warn has no requests", () => {
  assert.deepEqual(linesFor({ isProbe: true }), []);
  assert.deepEqual(linesFor({ isProbe: true }, "debug"), [{ ...common, level: 20 }]);
  assert.deepEqual(linesFor({}, "warn"), []);
});
