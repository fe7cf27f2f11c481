import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheControl, findFile } from "./files.ts";

const file = { hash: "00", size: 1, type: "text/plain", encodings: {} };
const manifest = new Map(["index.html", "about/index.html", "käse & co/index.html", "a.txt", "404.html"].map((path) => [path, file]));
const found = (path: string) => {
  const result = findFile(manifest, path);
  return result.kind === "file" ? `${result.status} ${result.path}` : result.kind === "folder" ? result.location : result.kind;
};

test("a folder answers with its index.html, and without its final slash redirects", () => {
  assert.equal(found(""), "200 index.html");
  assert.equal(found("about/"), "200 about/index.html");
  assert.equal(found("about"), "/about/");
  assert.equal(found("käse & co"), "/k%C3%A4se%20%26%20co/");
});

test("an unknown path finds the site's 404.html, or nothing", () => {
  for (const path of ["b.txt", "a.txt/", "/", "//", "constructor", "A.txt", "index.html/"]) assert.equal(found(path), "404 404.html", path);
  assert.equal(findFile(new Map(), "x").kind, "nothing");
});

test("a file whose name has a digest is cached for good, and every other one is revalidated", () => {
  for (const path of [
    "app.3f2a91bc.css",
    "assets/index-BkH3x9aZ.js",
    "img/logo-0a1b2c3d4e5f6071.png",
    "assets/a-x_1Y-2bc.woff2",
    "app.3f2a91bc.js.map",
  ]) {
    assert.match(cacheControl(path), /immutable/, path);
  }
  for (const path of [
    "index.html",
    "app.js",
    "menu-20260401.pdf",
    "photo-iPhone12.jpg",
    "jquery-3.7.1.min.js",
    "my-decade.css",
    "a-facade.js",
    "about-us.html",
    "v1.deadbeef",
  ]) {
    assert.match(cacheControl(path), /max-age=0, must-revalidate/, path);
  }
});
