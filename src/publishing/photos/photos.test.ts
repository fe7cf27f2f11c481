import assert from "node:assert/strict";
import { test } from "node:test";
import { pixelsRefusal } from "./photos.ts";

test("a picture may have 50 megapixels, and fewer if it is decoded as a whole", () => {
  const allowed = [
    ["jpeg", 10_000, 5_000, false],
    ["png", 10_000, 5_000, false],
    ["webp", 10_000, 5_000, false],
    ["jpeg", 8_000, 5_000, true],
    ["png", 6_000, 5_000, true],
    ["avif", 4_000, 3_250, false],
    ["png", 30_000, 1_000, false],
  ] as const;
  for (const [format, width, height, isProgressive] of allowed) {
    assert.equal(pixelsRefusal({ format, width, height, isProgressive }), undefined);
    assert.notEqual(pixelsRefusal({ format, width: width + 1, height, isProgressive }), undefined);
  }
});

test("the refusal of a picture with too many pixels names the limit of its kind", () => {
  const of = (format: "jpeg" | "png" | "avif", isProgressive = false) =>
    pixelsRefusal({ format, width: 8_000, height: 7_000, isProgressive });
  assert.equal(of("jpeg"), "it has 8000 × 7000 pixels; the limit is 50 megapixels");
  assert.equal(of("jpeg", true), "it has 8000 × 7000 pixels; the limit is 40 megapixels for progressive JPEG");
  assert.equal(of("png", true), "it has 8000 × 7000 pixels; the limit is 30 megapixels for interlaced PNG");
  assert.equal(of("avif"), "it has 8000 × 7000 pixels; the limit is 13 megapixels for AVIF");
  const long = pixelsRefusal({ format: "avif", width: 100, height: 40_000, isProgressive: false });
  assert.equal(long, "it has 100 × 40000 pixels; the limit is 30000 on a side");
});
