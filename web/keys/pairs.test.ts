import assert from "node:assert/strict";
import { test } from "node:test";
import type { Key } from "../calls/members.ts";
import { linkedKeys } from "./pairs.ts";

const key = (id: number, replaces: number | null = null): Key => ({ id, replaces }) as Key;
const shown = (keys: Key[]) => linkedKeys(keys).map(({ id, original, replacement }) => [id, original?.id, replacement?.id]);

test("a rotated key follows the key that replaced it, and each names the other", () => {
  assert.deepEqual(shown([key(1), key(2), key(3, 1), key(4, 3)]), [
    [2, undefined, undefined],
    [4, 3, undefined],
    [3, 1, 4],
    [1, undefined, 3],
  ]);
});

test("a key that was rotated twice follows the newer one, and a key whose original is gone stands alone", () => {
  assert.deepEqual(shown([key(2), key(3, 2), key(4, 2), key(6, 5)]), [
    [3, 2, undefined],
    [4, 2, undefined],
    [2, undefined, 4],
    [6, undefined, undefined],
  ]);
});
