import assert from "node:assert/strict";
import { test } from "node:test";
import { scrollScale } from "./scroll-scale.ts";

const million = scrollScale(53_000_000);

test("a list that fits is scrolled pixel by pixel", () => {
  const { scrolledPx, toList, toScrolled } = scrollScale(5_300);
  assert.equal(scrolledPx, 5_300);
  for (const px of [0, 1, 2_650, 5_299]) assert.deepEqual([toList(px), toScrolled(px)], [px, px]);
});

test("a million rows scroll in proportion, and no element exceeds the browsers' height limit", () => {
  assert.ok(million.scrolledPx <= 10_000_000);
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    assert.ok(Math.abs(million.toList(part * million.scrolledPx) / 53_000_000 - part) < 0.02, String(part));
  }
});

test("a list that does not fit is scrolled pixel by pixel near both ends", () => {
  for (const px of [0, 1, 53, 100_000]) {
    assert.equal(million.toList(px), px);
    assert.equal(million.toList(million.scrolledPx - px), 53_000_000 - px);
  }
});

test("a position in the list is the same after conversion to the scroll bar and back", () => {
  for (const px of [0, 200_000, 7_654_321, 40_000_000, 53_000_000]) assert.ok(Math.abs(million.toList(million.toScrolled(px)) - px) < 0.01);
});
