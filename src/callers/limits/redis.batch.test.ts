import assert from "node:assert/strict";
import { test } from "node:test";
import { openBatches } from "./redis.batch.ts";
import { accountMeter, type LimitRequest, openLedger } from "./redis.ledger.ts";
import { ruleOf } from "./redis.script.ts";

const ledger = openLedger(
  "",
  () => 0,
  () => 1,
);
const rule = ruleOf("count", 0, [60, 1_000]);
const requestOf = (accountId: number): LimitRequest => ({ rule, meters: [accountMeter(ledger, accountId)], bans: [] });

/** Opens batches. Each script answers with the time 7, and each request with its index in the batch. */
function openAll() {
  const sent: number[][] = [];
  const waiting = { count: 0 };
  const batches = openBatches(
    (keys) => {
      sent.push(keys.map((key) => Number(/\d+$/.exec(key)![0])));
      const bytes = Buffer.alloc(8 + 20 * keys.length);
      bytes.writeDoubleLE(7);
      for (let i = 0; i < keys.length; i++) bytes.writeUInt32LE(i, 8 + 20 * i);
      return { run: sent.length, answer: Promise.resolve(bytes) };
    },
    () => false,
    waiting,
    undefined,
    () => "",
  );
  return { sent, waiting, batches };
}

test("a script has the requests of one turn, in order, and each request gets its own answer", async () => {
  const { sent, waiting, batches } = openAll();
  const answers = [1, 2, 3].map((account) =>
    batches.ask(requestOf(account), (answer, offset, run) => [answer?.[0], answer?.[offset], run]),
  );
  assert.equal(waiting.count, 3);
  assert.deepEqual(await Promise.all(answers), [
    [7, 0, 1],
    [7, 1, 1],
    [7, 2, 1],
  ]);
  assert.deepEqual(sent, [[1, 2, 3]]);
  assert.equal(waiting.count, 0);
});

test("a script that is full is sent at once, and the rest waits for the end of the turn", async () => {
  const { sent, batches } = openAll();
  const accounts = Array.from({ length: 40 }, (_, i) => i);
  const answers = accounts.map((account) => batches.ask(requestOf(account), () => undefined));
  assert.deepEqual(sent, [accounts.slice(0, 32)]);
  await Promise.all(answers);
  assert.deepEqual(sent.slice(1), [accounts.slice(32)]);
});
