import assert from "node:assert/strict";
import { test } from "node:test";
import { openingData, weekOf } from "./opening.ts";

const week = (...lines: [days: string, time: string][]) => weekOf(lines.map(([days, time]) => ({ days, time })));
const none: never[] = [];

test("opening hours are read as people write them", () => {
  const nine = [[540, 1080]];
  assert.deepEqual(week(["Mon – Fri", "9 – 18"], ["Sat", "10:00-14:30"]), [nine, nine, nine, nine, nine, [[600, 870]], none]);
  assert.deepEqual(
    week(["Mo, Mi & Fr", "9.00–18.00 Uhr"])?.map((spans) => spans.length),
    [1, 0, 1, 0, 1, 0, 0],
  );
  assert.deepEqual(
    week(["Sat to Mon", "9am–6pm"])?.map((spans) => spans.length),
    [1, 0, 0, 0, 0, 1, 1],
  );
  assert.deepEqual(week(["Daily", "9 – 12, 14 – 18"])?.[6], [
    [540, 720],
    [840, 1080],
  ]);
  assert.deepEqual(week(["Mon", "1 – 5 pm"], ["Tue", "9 – 6 pm"])?.slice(0, 2), [[[780, 1020]], [[540, 1080]]]);
  assert.deepEqual(week(["Fri", "18 – 2"], ["Sun", "closed"])?.slice(4), [[[1080, 1560]], none, none]);
  assert.deepEqual(week(["Mon", "0 – 24"])?.[0], [[0, 1440]]);
});

test("hours with a line that cannot be read for sure are no week", () => {
  for (const line of [
    ["Mon", "by appointment"],
    ["Mon", "25 – 26"],
    ["Mon", "9 – 9"],
    ["Mon", "9:75 – 18"],
    ["Mon", "9"],
    ["Holidays", "9 – 18"],
    ["constructor", "9 – 18"],
    ["Mon – ", "9 – 18"],
    ["Mon – Tue – Wed", "9 – 18"],
    ["Mon", "13 pm – 14 pm"],
  ] as [string, string][])
    assert.equal(week(["Tue", "9 – 18"], line), undefined, line.join());
  assert.equal(week(), undefined);
  assert.equal(week(["Mon", "closed"]), undefined);
});

test("structured data has only times that a day has", () => {
  const hours = [
    { days: "Mon", time: "0 – 24" },
    { days: "Fri", time: "18 – 2" },
  ];
  const times = openingData(hours)!.map((entry) => Object.values(entry as Record<string, string>).slice(1));
  assert.deepEqual(times, [
    ["https://schema.org/Monday", "00:00", "23:59"],
    ["https://schema.org/Friday", "18:00", "02:00"],
  ]);
});
