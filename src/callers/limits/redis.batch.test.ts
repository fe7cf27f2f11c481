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
const accountOf = ({ meters: [meter] }: LimitRequest): number => Number(/\d+$/.exec(meter!.name)![0]);

/** Opens batches in three slots by account. Each script answers with the time 7, and each request with its index in the batch. */
function openSlots() {
  const sent: { slot: number; accounts: number[] }[] = [];
  const batches = openBatches(
    (keys, _args, slot) => {
      sent.push({ slot, accounts: keys.map((key) => Number(/\d+$/.exec(key)![0])) });
      const bytes = Buffer.alloc(8 + 20 * keys.length);
      bytes.writeDoubleLE(7);
      for (let i = 0; i < keys.length; i++) bytes.writeUInt32LE(i, 8 + 20 * i);
      return { run: sent.length, answer: Promise.resolve(bytes) };
    },
    () => false,
    (request) => accountOf(request) % 3,
    undefined,
    () => "",
  );
  return { sent, batches };
}

test("each script has the requests of one slot, in order, and each request gets its own answer", async () => {
  const { sent, batches } = openSlots();
  const accounts = [1, 2, 3, 4, 5, 7];
  const answers = accounts.map((account) => batches.ask(requestOf(account), (answer, offset, run) => [answer?.[0], answer?.[offset], run]));
  assert.equal(batches.waiting(), 6);
  assert.deepEqual(await Promise.all(answers), [
    [7, 0, 1],
    [7, 0, 2],
    [7, 0, 3],
    [7, 1, 1],
    [7, 1, 2],
    [7, 2, 1],
  ]);
  assert.deepEqual(sent, [
    { slot: 1, accounts: [1, 4, 7] },
    { slot: 2, accounts: [2, 5] },
    { slot: 0, accounts: [3] },
  ]);
  assert.equal(batches.waiting(), 0);
});

test("a slot whose script is full begins another; the other slots wait for the end of the turn", async () => {
  const { sent, batches } = openSlots();
  const accounts = [2, ...Array.from({ length: 40 }, (_, i) => 3 * i)];
  const answers = accounts.map((account) => batches.ask(requestOf(account), () => undefined));
  assert.deepEqual(sent, [{ slot: 0, accounts: accounts.slice(1, 33) }]);
  await Promise.all(answers);
  assert.deepEqual(sent.slice(1), [
    { slot: 2, accounts: [2] },
    { slot: 0, accounts: accounts.slice(33) },
  ]);
});
