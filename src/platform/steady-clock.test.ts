import assert from "node:assert/strict";
import { test } from "node:test";
import { dayMs, hourMs, minuteMs } from "./clock.ts";
import { openSteadyClock } from "./steady-clock.ts";

const start = Date.UTC(2026, 10, 26);

/** A machine whose clocks a test sets. `pass` lets time pass on all of them. */
function machine(more: { startsAt?: number; lastWrittenAt?: number } = {}) {
  const at = { set: more.startsAt ?? start, passed: 5_000, up: 9_000 };
  const clock = openSteadyClock({
    clock: () => at.set,
    timer: () => at.passed,
    uptime: () => at.up,
    lastWrittenAt: more.lastWrittenAt,
  });
  const pass = (ms: number): void => {
    at.set += ms;
    at.passed += ms;
    at.up += ms;
  };
  return { at, clock, pass };
}

test("a clock that jumps by 40 days, forward or back, changes no time and stops deletions; set right, they go on", () => {
  for (const jump of [40 * dayMs, -40 * dayMs]) {
    const { at, clock, pass } = machine();
    clock.check(undefined);
    at.set += jump;
    pass(1_000);
    assert.equal(clock.now(), start + 1_000); // before any check
    clock.check(undefined);
    assert.equal(clock.trouble(), `the clock jumped 40.0 days ${jump > 0 ? "ahead" : "back"}`);
    pass(hourMs);
    clock.check(undefined);
    assert.equal(clock.now(), start + 1_000 + hourMs);
    assert.notEqual(clock.trouble(), undefined);
    at.set -= jump;
    clock.check(undefined);
    assert.equal(clock.trouble(), undefined);
    assert.equal(clock.now(), at.set);
  }
});

test("a jump counts once the clock has been steady for as long as it was, at most for a day; until then another jump begins anew", () => {
  for (const [jump, waits] of [
    [3 * hourMs, 3 * hourMs],
    [40 * dayMs, dayMs],
    [-40 * dayMs, dayMs],
  ] as const) {
    const { at, clock, pass } = machine();
    at.set += jump;
    clock.check(undefined);
    pass(waits - 1);
    clock.check(undefined);
    assert.notEqual(clock.trouble(), undefined);
    at.set += 2 * minuteMs;
    clock.check(undefined);
    pass(waits - 1);
    clock.check(undefined);
    assert.equal(clock.now(), start + 2 * (waits - 1));
    pass(2 * minuteMs + 1);
    clock.check(undefined);
    assert.equal(clock.trouble(), undefined);
    assert.equal(clock.now(), at.set);
  }
});

test("small corrections, the sleep of the machine and a first time after 1970 count at once", () => {
  const { at, clock, pass } = machine();
  for (let i = 0; i < 10; i++) {
    at.set += 50_000;
    pass(1_000);
    clock.check(undefined);
    assert.deepEqual([clock.now(), clock.trouble()], [at.set, undefined]);
  }
  for (const sleep of [50_000, 40 * dayMs, 50_000]) {
    at.set += sleep;
    at.up += sleep;
    clock.check(undefined);
    assert.deepEqual([clock.now(), clock.trouble()], [at.set, undefined]);
  }
  const early = machine({ startsAt: 60_000 });
  early.at.set = start;
  early.clock.check(undefined);
  assert.deepEqual([early.clock.now(), early.clock.trouble()], [start, undefined]);
});

test("beside a shared database its time counts: against a clock that jumped, but not if it jumped itself", () => {
  const { at, clock, pass } = machine();
  clock.check(start);
  at.set += 40 * dayMs;
  pass(1_000);
  clock.check(start + 1_000);
  assert.equal(clock.trouble(), "the clock is 40.0 days ahead of that of the database");
  pass(2 * dayMs);
  clock.check(start + 1_000 + 2 * dayMs);
  assert.equal(clock.now(), start + 1_000 + 2 * dayMs);
  clock.check("unknown");
  assert.notEqual(clock.trouble(), undefined);
  at.set -= 40 * dayMs;
  clock.check(at.set);
  assert.equal(clock.trouble(), undefined);

  clock.check(at.set + 40 * dayMs);
  assert.equal(clock.trouble(), "the clock of PostgreSQL jumped 40.0 days ahead");
  assert.equal(clock.now(), at.set);
  pass(1_000);
  clock.check(at.set);
  assert.equal(clock.trouble(), undefined);
});

test("a database whose clock jumps with the node's, as on one machine, does not confirm the jump; the jump counts after a day", () => {
  for (const jump of [40 * dayMs, -40 * dayMs]) {
    for (const away of [[], ["unknown"]] as const) {
      const { at, clock, pass } = machine();
      clock.check(at.set);
      at.set += jump;
      for (const database of away) clock.check(database); // it was restarted meanwhile
      for (let i = 0; i < 3; i++) {
        pass(1_000);
        clock.check(at.set);
        assert.equal(clock.trouble(), `the clock of PostgreSQL jumped 40.0 days ${jump > 0 ? "ahead" : "back"}`);
        assert.equal(clock.now(), at.set - jump);
      }
      pass(dayMs);
      clock.check(at.set);
      assert.deepEqual([clock.now(), clock.trouble()], [at.set, undefined]);
      pass(1_000);
      clock.check(at.set);
      assert.deepEqual([clock.now(), clock.trouble()], [at.set, undefined]);
    }
  }
});

test("a database that did not jump is right at once, after a sleep of this machine and after many small corrections of its clock", () => {
  const { at, clock, pass } = machine();
  clock.check(at.set);
  at.set += 40 * dayMs;
  at.up += 40 * dayMs;
  clock.check(at.set);
  assert.deepEqual([clock.now(), clock.trouble()], [at.set, undefined]);
  const right = at.set;
  for (let i = 0; i < 10; i++) {
    at.set += 50_000;
    clock.check("unknown");
  }
  pass(1_000);
  clock.check(right + 1_000);
  assert.deepEqual([clock.now(), clock.trouble()], [right + 1_000, "the clock is 8 minutes ahead of that of the database"]);
});

test("a node that starts with a clock beside that of the database uses the database's, and says so", () => {
  const { at, clock } = machine();
  clock.check(start + 30 * minuteMs);
  assert.deepEqual([clock.now(), clock.trouble()], [start + 30 * minuteMs, "the clock is 30 minutes behind that of the database"]);
  at.set += 30 * minuteMs;
  clock.check(at.set);
  assert.deepEqual([clock.now(), clock.trouble()], [at.set, undefined]);
});

test("a start 40 days after the last write deletes nothing for a day", () => {
  const { clock, pass } = machine({ lastWrittenAt: start - 40 * dayMs });
  clock.check(undefined);
  assert.equal(clock.trouble(), "the clock is 40.0 days ahead of the last write of the database");
  pass(dayMs - 1);
  clock.check(undefined);
  assert.notEqual(clock.trouble(), undefined);
  pass(1);
  clock.check(undefined);
  assert.equal(clock.trouble(), undefined);
  assert.equal(machine({ lastWrittenAt: start - dayMs }).clock.trouble(), undefined);
});
