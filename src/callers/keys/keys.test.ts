import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { hasExpired, hashKey, makeKey, prefixOf, rotatedExpiry, wellFormed } from "./keys.ts";

const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));

test("a new key has the documented form, is well-formed and is unique", () => {
  const secret = makeKey(false);
  assert.match(secret, /^psk_[0-9A-Za-z]{36}$/);
  assert.match(makeKey(true), /^psp_[0-9A-Za-z]{36}$/);
  assert.ok(wellFormed(secret));
  assert.ok(wellFormed(makeKey(true)));
  assert.equal(new Set(Array.from({ length: 1_000 }, () => makeKey(false))).size, 1_000);
});

test("the checksum is the CRC-32 of everything before it, so that other programs can check a key too", () => {
  // CRC-32 of "psk_" and thirty zeros is 777340748, which is 0qbdq0 in base62.
  assert.ok(wellFormed(`psk_${"0".repeat(30)}0qbdq0`));
});

test("any single changed character makes a key malformed", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.nat(39), printable, (publishable, position, character) => {
      const key = makeKey(publishable);
      fc.pre(key[position] !== character);
      assert.equal(wellFormed(key.slice(0, position) + character + key.slice(position + 1)), false);
    }),
    { numRuns: 2_000 },
  );
});

test("two swapped neighbours make a key malformed", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.nat(38), (publishable, i) => {
      const key = makeKey(publishable);
      fc.pre(key[i] !== key[i + 1]);
      assert.equal(wellFormed(key.slice(0, i) + key[i + 1] + key[i] + key.slice(i + 2)), false);
    }),
  );
});

test("a key with missing or extra characters, and any other text, is malformed", () => {
  const key = makeKey(false);
  for (const text of ["", "psk_", key.slice(1), key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`]) assert.equal(wellFormed(text), false);
  fc.assert(fc.property(anyText({ maxLength: 60 }), (text) => !wellFormed(text)));
});

test("neither the stored hash nor the prefix reveals the key", () => {
  const key = makeKey(false);
  assert.match(hashKey(key), /^[\w-]{43}$/);
  assert.equal(hashKey(key), hashKey(key));
  assert.equal(prefixOf(key), key.slice(0, 8));
});

test("a key works until its expiry, exclusive", () => {
  assert.equal(hasExpired(1_000, 999), false);
  assert.equal(hasExpired(1_000, 1_000), true);
  assert.equal(hasExpired(null, Number.MAX_SAFE_INTEGER), false);
});

test("a rotated key expires after the overlap, but never later than it would have", () => {
  assert.equal(rotatedExpiry(null, 24, 1_000), 1_000 + 86_400_000);
  assert.equal(rotatedExpiry(5_000, 24, 1_000), 5_000);
  assert.equal(rotatedExpiry(null, 0, 1_000), 1_000);
});
