import assert from "node:assert/strict";
import { test } from "node:test";
import { isOverdrawn, openByteAccount } from "./connections.ts";

const kiB = 1_024;

/** A connection whose counts and time the test adds to. */
function openConnection() {
  const account = openByteAccount(0);
  const [counts, time] = [{ received: 0, sent: 0, receivedBelowTls: 0 }, { ms: 0 }];
  /** Adds bytes, and returns whether they were too many. */
  const floods = (more: Partial<typeof counts>, ms = 0): boolean => {
    for (const key of ["received", "sent", "receivedBelowTls"] as const) counts[key] += more[key] ?? 0;
    time.ms += ms;
    return isOverdrawn(account, counts, time.ms);
  };
  return { account, floods };
}

test("a client may send 256 KiB without a request, 16 KiB more each second, and no more", () => {
  const { floods } = openConnection();
  assert.equal(floods({ received: 256 * kiB }), false);
  for (let second = 0; second < 100; second += 1) assert.equal(floods({ received: 16 * kiB }, 1_000), false);
  assert.equal(floods({ received: 16 * kiB + 1 }, 1_000), true);
});

test("time that a client does not use adds nothing", () => {
  const { floods } = openConnection();
  assert.equal(floods({}, 86_400_000), false);
  assert.equal(floods({ received: 256 * kiB + 1 }), true);
});

test("requests, bodies and answers account for bytes", () => {
  const { account, floods } = openConnection();
  assert.equal(floods({ received: 256 * kiB }), false);
  account.requests = 100;
  assert.equal(floods({ received: 100 * 32 * kiB }), false);
  account.bodyBytes = 1_000_000_000;
  for (let megabyte = 0; megabyte < 1_000; megabyte += 1) assert.equal(floods({ received: 1_000_000 }), false);
  assert.equal(floods({ received: 1_000_000, sent: 8_000_000 }), false);
  assert.equal(floods({ received: 1 }), true);
});

test("what TLS adds is bounded too, and a client that sends every frame in a record of its own keeps within the bound", () => {
  const { floods } = openConnection();
  for (let frame = 0; frame < 100_000; frame += 1) assert.equal(floods({ received: 13, receivedBelowTls: 35 }, 1), false);
  assert.equal(floods({ receivedBelowTls: 10_000_000 }), true);
});
