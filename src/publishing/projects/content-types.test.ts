import assert from "node:assert/strict";
import { test } from "node:test";
import { contentTypeOf, isCompressible } from "./content-types.ts";

test("text is served as UTF-8, by extension in any case", () => {
  assert.equal(contentTypeOf("index.html"), "text/html; charset=utf-8");
  assert.equal(contentTypeOf("assets/app.JS"), "text/javascript; charset=utf-8");
  assert.equal(contentTypeOf("a.b/style.css"), "text/css; charset=utf-8");
});

test("types that carry their own encoding get no charset", () => {
  assert.equal(contentTypeOf("data.json"), "application/json");
  assert.equal(contentTypeOf("app.webmanifest"), "application/manifest+json");
  assert.equal(contentTypeOf("logo.svg"), "image/svg+xml");
  assert.equal(contentTypeOf("app.wasm"), "application/wasm");
});

test("a name without a known extension is served as bytes, even if the name itself is an extension", () => {
  for (const path of ["LICENSE", "js", ".html", "folder.html/README", "a.unheard-of", ".well-known/html"]) {
    assert.equal(contentTypeOf(path), "application/octet-stream", path);
  }
});

test("text, JSON, XML, SVG, wasm and uncompressed fonts are compressed; compressed types are not", () => {
  for (const path of ["a.html", "a.js", "a.json", "a.webmanifest", "a.xml", "a.rss", "a.svg", "a.wasm", "a.ttf", "a.ico"]) {
    assert.equal(isCompressible(contentTypeOf(path)), true, path);
  }
  for (const path of ["a.png", "a.jpg", "a.webp", "a.mp4", "a.zip", "a.gz", "a.woff2", "a.pdf", "a"]) {
    assert.equal(isCompressible(contentTypeOf(path)), false, path);
  }
});
