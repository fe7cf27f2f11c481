import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { callersContract } from "../../../test/support/limits-callers-contract.ts";
import { limiterContract, free, noon } from "../../../test/support/limits-contract.ts";
import { givingBackContract } from "../../../test/support/limits-giving-back-contract.ts";
import { modelProperty } from "../../../test/support/limits-model.ts";
import { type MemoryLimiter, openMemoryLimiter } from "./memory.ts";
import { openStateFile } from "./state-file.ts";

const open = (clock = () => noon) => openMemoryLimiter({ clock, addressQuota: free });

limiterContract("in memory", "process", async (clock) => open(clock));
givingBackContract("in memory", async (clock) => open(clock));
callersContract("in memory", "process", async (clock) => open(clock));
modelProperty("in memory", async (clock) => open(clock), 300);

function restarted(limiter: MemoryLimiter, clock = () => noon): MemoryLimiter {
  const next = open(clock);
  for (const piece of limiter.snapshot()) next.restore(piece.split("\n"));
  return next;
}

function times(count: number, request: () => unknown): void {
  for (let i = 0; i < count; i++) request();
}

test("a restart in the middle of a minute grants no second quota", () => {
  const limiter = open();
  times(45, () => limiter.account(1, 1, free));
  times(50, () => limiter.address("192.0.2.1"));
  times(20, () => limiter.publishable(2, "2001:db8::1", free));
  times(7, () => limiter.dashboard(3));
  const next = restarted(limiter);
  assert.equal(next.account(1, 1, free).remaining, 14);
  assert.equal(next.address("192.0.2.1").remaining, 9);
  assert.equal(next.publishable(2, "2001:db8::1", free).remaining, 9);
  assert.equal(next.dashboard(3).remaining, 292);
});

test("strikes and bans survive a restart", () => {
  const limiter = open();
  times(60, () => limiter.account(1, 1, free));
  times(21, () => limiter.account(1, 1, free));
  times(5, () => limiter.account(1, 2, free));
  const next = restarted(limiter, () => noon + 60_000);
  assert.deepEqual([next.account(1, 1, free).verdict, next.account(1, 1, free).retryAfterSeconds], ["key_banned", 240]);
  assert.equal(restarted(limiter).strikeStatus(1, 2, free).strikes, 5);
});

test("a snapshot of a release before 1.3.0, which has a time for each strike, is restored", () => {
  const limiter = open();
  limiter.restore([`["strikes","key",1,[0,0,${noon - 100},${noon - 200},${noon - 100},${noon - 60_000}]]`]);
  assert.equal(limiter.strikeStatus(1, 1, free).strikes, 3);
});

test("a flood of refusals takes memory and time for each ms, not for each refusal, and every refusal counts", () => {
  let now = noon;
  const limiter = open(() => now);
  const large = { perMinute: 10_000_000, perDay: 1 };
  for (let ms = 0; ms < 1_500; ms++, now++) times(20, () => limiter.account(1, 1, large));
  assert.equal(limiter.strikeStatus(1, 1, large).strikes, 29_999);
  assert.ok([...limiter.snapshot()].join("").length < 1_500 * 20);
  assert.equal(restarted(limiter, () => now).strikeStatus(1, 1, large).strikes, 29_999);
  now += 59_000;
  assert.equal(limiter.strikeStatus(1, 1, large).strikes, 19_980, "those of the first 501 ms are expired");
  assert.equal(limiter.account(1, 1, large).strikesRemaining, 2_000_000 - 19_981);
  now += 60_000;
  assert.equal(limiter.strikeStatus(1, 1, large).strikes, 0);
});

test("requests of a banned key and of a banned visitor leave nothing to save", () => {
  const limiter = open();
  times(81, () => limiter.account(1, 1, free));
  times(81, () => limiter.publishable(2, "192.0.2.1", free));
  const before = limiter.changes();
  assert.equal(limiter.account(1, 1, free).verdict, "key_banned");
  assert.equal(limiter.publishable(2, "192.0.2.1", free).verdict, "key_banned");
  assert.equal(limiter.changes(), before);
  limiter.account(1, 2, free);
  assert.equal(limiter.changes(), before + 1);
});

test("a snapshot of thousands of accounts is complete, and comes in pieces", () => {
  const limiter = open();
  for (let account = 0; account < 2_500; account++) limiter.account(account, account, free);
  assert.equal([...limiter.snapshot()].length, 3);
  assert.equal(restarted(limiter).size(), 2_500);
});

test("a damaged line of a snapshot is skipped, and the others are restored", () => {
  const limiter = open();
  times(10, () => limiter.account(1, 1, free));
  const [good = ""] = limiter.snapshot();
  const next = open();
  const junk = ["", "{", "null", "[]", '["windows","account",2,[1,2]]', '["windows","account",2,[-1,0,0,0,0,0,0,0]]', good.slice(0, -20)];
  const foreign = [
    '["windows","constructor",2,[1,1,1,1,1,1,1,1]]',
    '["strikes","key",null,[1,1]]',
    '["else","account",2,[0,0,0,0,0,0,0,0]]',
    "\u0000".repeat(99),
  ];
  next.restore([...junk, good, ...foreign]);
  assert.equal(next.account(1, 1, free).remaining, 49);
  assert.equal(next.account(2, 2, free).remaining, 59);
});

test("no snapshot can ban a key for longer than an hour", () => {
  const limiter = open();
  limiter.restore(['["strikes","key",1,[9000000000000000,9000000000000000]]']);
  assert.equal(limiter.account(1, 1, free).retryAfterSeconds, 3_600);
});

test("thousands of addresses take bounded memory, and the oldest is removed first", () => {
  const limiter = open();
  times(30, () => limiter.address("192.0.2.1"));
  for (let i = 0; i < 49_999; i++) limiter.address(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  assert.equal(limiter.address("192.0.2.1").remaining, 29);
  times(70_000, () =>
    limiter.address(`2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}:${Math.floor(Math.random() * 65_536).toString(16)}::1`),
  );
  assert.equal(limiter.size(), 50_000);
  assert.equal(limiter.peekAddress("192.0.2.1").remaining, 60);
});

test("a sweep checks a thousand entries and removes the idle ones, but none that still counts", () => {
  let now = noon;
  const limiter = open(() => now);
  for (let account = 0; account < 1_500; account++) limiter.account(account, account, free);
  for (let visitor = 0; visitor < 300; visitor++) limiter.publishable(9_999, `10.0.${visitor >> 8}.${visitor & 255}`, free);
  const sweepAll = () => times(10, () => limiter.sweep());
  sweepAll();
  assert.equal(limiter.size(), 1_501 + 1 + 300 + 270, "accounts, publishable keys, visitors, and visitors with strikes");
  now += 3 * 3_600_000;
  sweepAll();
  assert.equal(limiter.size(), 1_501 + 1 + 270);
  assert.equal(limiter.account(5, 5, free).dayRemaining, 998);
  now += 24 * 3_600_000;
  sweepAll();
  assert.equal(limiter.size(), 0);
});

test("a sweep loses nothing when the clock jumps over midnight and back", () => {
  let now = Date.UTC(2026, 5, 15, 23, 30);
  const limiter = open(() => now);
  times(60, () => limiter.account(1, 1, free));
  now += 3_600_000;
  times(10, () => limiter.sweep());
  now -= 3_600_000;
  assert.equal(limiter.account(1, 1, free).verdict, "rate_limit_exceeded");
});

test("the state file restores everything and is private; a missing one restores nothing, a truncated one its complete lines", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "petstore-limits-"));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "limits.state");
  const reopened = async () => {
    const limiter = open();
    await openStateFile(path, limiter).load();
    return limiter;
  };

  assert.equal((await reopened()).size(), 0);
  const limiter = open();
  const file = openStateFile(path, limiter);
  for (let account = 0; account < 1_500; account++) times(3, () => limiter.account(account, account, free));
  await Promise.all([file.save(), file.save(), file.save()]);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await reopened()).account(1_499, 1, free).remaining, 56);

  limiter.account(7, 7, free);
  await file.save();
  assert.equal((await reopened()).account(7, 7, free).remaining, 55);

  await writeFile(path, "untouched");
  await file.save();
  assert.equal(await readFile(path, "utf8"), "untouched");

  limiter.account(7, 7, free);
  await file.save();
  await truncate(path, 1_000);
  assert.equal((await reopened()).account(1, 1, free).remaining, 56);
});
