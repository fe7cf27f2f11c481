import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf, startsOf, unread, withPage, type KnownPage } from "./known-pages.ts";

const read = (known: readonly KnownPage[], cursor: string | undefined, count: number, next?: string) =>
  withPage(known, { cursor, count, next });
const three = read(read(read(unread, undefined, 100, "b"), "b", 100, "c"), "c", 40);

test("reading a page adds the next page, and the list is complete once no page follows", () => {
  assert.deepEqual(read(unread, undefined, 100, "b"), [{ cursor: undefined, count: 100 }, { cursor: "b" }]);
  assert.deepEqual(startsOf(three), [0, 100, 200, 240]);
  assert.equal(read(three, "b", 100, "c"), three);
});

test("if a page ends at another row than before, the next page begins there, and later pages stay", () => {
  const [, , last] = three;
  assert.deepEqual(read(three, undefined, 100, "b2"), [{ cursor: undefined, count: 100 }, { cursor: "b2", count: 100 }, last]);
  assert.deepEqual(read(three, "b", 100), three.slice(0, 2), "the list may now end with this page");
  assert.deepEqual(read(three, undefined, 100, "c"), [three[0], last], "all rows of a page may have been deleted");
});

test("reading a page that the list no longer links to changes nothing", () => {
  assert.equal(read(three, "z", 100, "y"), three);
});

test("every row is found on its page, and unknown rows on the last page", () => {
  const starts = startsOf([{ cursor: undefined, count: 2 }, { cursor: "b", count: 0 }, { cursor: "c", count: 3 }, { cursor: "d" }]);
  assert.deepEqual(
    [0, 1, 2, 4, 5, 99].map((row) => pageOf(starts, row)),
    [0, 0, 2, 2, 3, 3],
  );
  assert.equal(pageOf(startsOf(unread), 30), 0);
});
