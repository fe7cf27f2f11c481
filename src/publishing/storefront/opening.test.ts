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

test("a time span past midnight or without am and pm counts only if a shop can mean nothing else", () => {
  const spanOf = (time: string) => week(["Mon", time])?.[0]?.[0];
  const sure: Record<string, [from: number, to: number]> = {
    "9 – 12": [540, 720],
    "5 – 14": [300, 840],
    "9 – 24": [540, 1440],
    "9 – 0": [540, 1440],
    "12 – 5 pm": [720, 1020],
    "8 – 8 pm": [480, 1200],
    "6pm – 12am": [1080, 1440],
    "10pm – 6am": [1320, 1800],
    "17 – 6": [1020, 1800],
    "18 – 2 am": [1080, 1560],
    "1pm – 17": [780, 1020],
  };
  for (const [time, span] of Object.entries(sure)) assert.deepEqual(spanOf(time), span, time);
  const unsure = [
    "9 – 5",
    "10 – 6",
    "12 – 2",
    "9am – 5",
    "5pm – 6",
    "9 – 10 pm",
    "2 – 6",
    "6 – 9",
    "13 – 5",
    "18 – 7",
    "9am – 12am",
    "12am – 6pm",
  ];
  for (const time of [...unsure, "10am – 1am", "0 – 5 pm", "9 – 18, 12 – 14", "9 – 12, 2 – 6"])
    assert.equal(week(["Mon", time]), undefined, time);
});

test("a line with fewer days replaces the hours of its days, and two that could both count are no week", () => {
  const [nine, ten] = [[[540, 1080]], [[600, 780]]];
  const six = [nine, nine, nine, nine, nine];
  assert.deepEqual(week(["Daily", "9 – 18"], ["Sun", "closed"]), [...six, nine, none]);
  assert.deepEqual(week(["Sun", "closed"], ["Daily", "9 – 18"]), [...six, nine, none]);
  assert.deepEqual(week(["Mon – Sat", "9 – 18"], ["Sat", "10 – 13"]), [...six, ten, none]);
  assert.deepEqual(week(["Daily", "9 – 12, 14 – 18"], ["Weekend", "10 – 13"], ["Sun", "closed"])?.slice(4), [
    [
      [540, 720],
      [840, 1080],
    ],
    ten,
    none,
  ]);
  assert.deepEqual(week(["Weekend", "closed"], ["Sat", "10 – 13"])?.slice(5), [ten, none]);
  assert.deepEqual(week(["Mon, Tue", "14 – 18"], ["Mon – Tue", "9 – 12"])?.[1], [
    [540, 720],
    [840, 1080],
  ]);
  for (const lines of [
    ["Mon – Fri 9 – 12", "Tue 14 – 18"],
    ["Mon – Fri 9 – 12, 14 – 18", "Wed 14 – 20"],
    ["Mon 9 – 18", "Mon 9 – 13"],
    ["Mon 9 – 18", "Mon closed"],
    ["Mon – Wed 9 – 12", "Wed – Fri 14 – 18"],
  ]) {
    const read = lines.map((line): [string, string] => [
      line.slice(0, line.search(/ (?:\d|closed)/)),
      line.slice(line.search(/ (?:\d|closed)/) + 1),
    ]);
    assert.equal(week(...read), undefined, lines.join("; "));
  }
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
