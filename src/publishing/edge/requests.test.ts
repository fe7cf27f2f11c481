import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { parseTarget } from "./requests.ts";

test("a path is decoded once and converted to NFC; the raw path stays for redirects", () => {
  assert.deepEqual(parseTarget("/a%20b/c.html?x=%2F#y"), { path: "a b/c.html", rawPath: "/a%20b/c.html", query: "?x=%2F" });
  assert.equal(parseTarget("/%252e%252e/a")?.path, "%2e%2e/a");
  assert.equal(parseTarget("/e%CC%81")?.path, "\u00e9");
  assert.deepEqual(parseTarget(Buffer.from("/é?ü").toString("latin1")), { path: "é", rawPath: "/%C3%A9", query: "?%C3%BC" });
  assert.deepEqual(parseTarget("/a..b/...")?.path, "a..b/...");
});

test("a path that could lead elsewhere is refused in every spelling", () => {
  const hostile = [
    "",
    "*",
    "a",
    "?",
    "/..",
    "/../x",
    "/a/../x",
    "/%2e%2e/x",
    "/.%2E/x",
    "/a/.",
    "/./a",
    "/a%2fb",
    "/..%2f..%2fx",
    "/..%5cx",
    "/a\\b",
    "/%00",
    "/a%00.html",
    "/%",
    "/%zz",
    "/%c0%ae%c0%ae/x",
    "/%ff",
    "/a%0d%0aX: y",
  ];
  for (const url of hostile) assert.equal(parseTarget(url), undefined, url);
});

test("whatever the path, none of its steps leads up, and its raw form fits into a header", () => {
  const step = fc.oneof(
    fc.constantFrom("..", ".", "%2e", "%2E%2e", "%252e", "/", "%2f", "%5c", "\\", "%00", "%", "\u0000", "?", "#"),
    anyText(),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const target = parseTarget(`/${steps.join("")}`);
      if (target === undefined) return;
      assert.ok(!target.path.split("/").some((segment) => segment === "." || segment === ".."), target.path);
      assert.doesNotMatch(target.path, /[\p{Cc}\\]/u);
      assert.match(target.rawPath + target.query, /^\/[\u0021-\u007e]*$/);
    }),
  );
});
