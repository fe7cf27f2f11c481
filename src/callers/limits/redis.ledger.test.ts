import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accountMeter,
  beginOutage,
  decideAlone,
  knownFigures,
  type MeterFigures,
  openLedger,
  recordReport,
  takePending,
} from "./redis.ledger.ts";
import { ruleOf } from "./redis.script.ts";

const minuteMs = 60_000;
const noon = Date.UTC(2030, 0, 1, 12);
const name = "petstore:limits:account:1";

/** A ledger that has admitted ten requests during an outage. */
function ledgerAfterOutage() {
  const ledger = openLedger(
    "petstore:limits:",
    () => noon,
    () => 1,
  );
  beginOutage(ledger, { wasComplete: true });
  for (let i = 0; i < 10; i++)
    decideAlone(ledger, { rule: ruleOf("count", 0, [100, 1_000]), meters: [accountMeter(ledger, 1)], bans: [] }, 0);
  return ledger;
}

/** The requests that the ledger would add to the meter in Redis, in the minute: the used ones that it knows, and the pending ones. */
function minuteOf([taken]: Iterable<MeterFigures>): unknown[] | undefined {
  return taken?.args.slice(2, 4);
}

test("requests that Redis did not add are added once at the next try", () => {
  const ledger = ledgerAfterOutage();
  const first = [...takePending(ledger)];
  assert.deepEqual(minuteOf(first), [0, 10]);
  first[0]!.putBack();
  assert.deepEqual(minuteOf(takePending(ledger)), [0, 10]);
  assert.equal(minuteOf(takePending(ledger)), undefined, "and not again once Redis has them");
  assert.deepEqual(minuteOf(knownFigures(ledger)), [10, 0]);
});

test("the shards of a cluster share the memory of one ledger", () => {
  const ledger = openLedger(
    "petstore:limits:{18}:",
    () => noon,
    () => 1,
    16,
  );
  for (let id = 0; id < 70_000; id++) accountMeter(ledger, id * 16);
  assert.equal(ledger.accounts.size(), 1_000_000 / 16);
  for (let id = 0; id < 4_000; id++) recordReport(ledger, `0 1 1\n${ledger.prefix}person:${id} 1 1`);
  assert.equal(ledger.others.size(), 50_000 / 16);
});

test("a number that Redis reports in the meantime stays known", () => {
  const ledger = ledgerAfterOutage();
  const [taken] = takePending(ledger);
  const day = Math.floor(noon / 86_400_000);
  recordReport(ledger, `0 ${Math.floor(noon / minuteMs)} ${day}\n${name} 50 50`);
  taken!.putBack();
  assert.deepEqual(minuteOf(takePending(ledger)), [50, 10]);
});
