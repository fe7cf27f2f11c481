import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesIn, readPhotos } from "./profiles.ts";

const one = "https://img.example.org/w_100,h_80/a, b.jpg?x=1;2|3";

test("addresses in one cell are separated, and keep the commas, semicolons and bars that they contain", () => {
  const plain = ["https://a.example/1,2.jpg", "http://b.example/?u=https://c.example/3.jpg", "HTTPS://d.example/4;5.jpg"];
  for (const between of [", ", ",", "; ", "|", " ", "\n", " , ; "])
    assert.deepEqual(addressesIn(`${plain.join(between)}${between}`), plain);
  assert.deepEqual(addressesIn(""), []);
});

test("a text that is no web address is refused, a repeated address counts once, and more than ten are refused", () => {
  for (const wrong of [
    "rex.jpg",
    "ftp://a.example/1.jpg",
    one,
    "https://",
    "rex.jpg, https://a.example/1.jpg",
    `https://a.example/${"x".repeat(2_000)}`,
  ])
    assert.ok("reason" in readPhotos([wrong]), wrong);
  assert.deepEqual(readPhotos(["HTTP://A.example/1.jpg", "", "http://A.example/1.jpg"]), ["http://A.example/1.jpg"]);
  const many = Array.from({ length: 11 }, (_, n) => `https://a.example/${n}.jpg`);
  assert.deepEqual(readPhotos([many.join(", ")]), { reason: "has 11 photos, more than 10" });
  assert.deepEqual(readPhotos(many.slice(1)), many.slice(1));
});

test("a long cell takes linear time", () => {
  const startedAt = performance.now();
  addressesIn(", ".repeat(64_000));
  addressesIn("https://".repeat(16_000));
  assert.ok(performance.now() - startedAt < 1_000);
});
