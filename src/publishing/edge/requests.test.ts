import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normaliseName, parseHost, parseTarget, splitAbsoluteForm } from "./requests.ts";
import { anyText } from "../../../test/support/any-text.ts";

test("a host is lower case, without port and final dot", () => {
  for (const spelling of [
    "www.example.com",
    "WWW.Example.COM",
    "www.example.com.",
    "www.example.com:8081",
    "www.Example.com.:443",
    "www.example.com:",
  ]) {
    assert.equal(parseHost(spelling), "www.example.com", spelling);
  }
  assert.equal(parseHost("xn--bcher-kva.example"), "xn--bcher-kva.example");
  assert.equal(parseHost("localhost:8081"), "localhost");
  assert.equal(parseHost("127.0.0.1:8081"), "127.0.0.1");
  assert.equal(parseHost("[::1]:8081"), "[::1]");
});

test("an invalid host name is refused", () => {
  const broken = [
    "",
    ".",
    "..",
    "a..b",
    ".a",
    "a b",
    "a/b",
    "user@a",
    "a:b",
    "a:99999",
    "a:1:2",
    "::1",
    "[::1",
    "[]",
    "bücher.example",
    "a\u0000b",
    "a%2eb",
    "a,b",
  ];
  for (const value of [...broken, `${"a".repeat(64)}.example`, "a.".repeat(127) + "example", "a".repeat(70_000), undefined]) {
    assert.equal(parseHost(value), undefined, String(value).slice(0, 40));
  }
});

test("whatever the header, a parsed host is a valid one", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (value) => {
      const host = parseHost(value);
      assert.ok(host === undefined || /^[a-z0-9_.:[\]-]{1,253}$/.test(host), String(host));
      assert.equal(host === undefined ? undefined : parseHost(host), host);
    }),
  );
  fc.assert(fc.property(fc.domain(), (domain) => assert.equal(parseHost(`${domain.toUpperCase()}.:80`), domain.toLowerCase())));
});

test("a name from SNI is normalised like a host, but has no port", () => {
  assert.equal(normaliseName("WWW.Example.com."), "www.example.com");
  assert.equal(normaliseName("www.example.com:443"), undefined);
  assert.equal(normaliseName(""), undefined);
});

test("in the absolute form the target's host takes precedence", () => {
  assert.deepEqual(splitAbsoluteForm("HTTP://a.example:80/x?y"), { authority: "a.example:80", target: "/x?y" });
  assert.deepEqual(splitAbsoluteForm("http://a.example?y"), { authority: "a.example", target: "/?y" });
  assert.deepEqual(splitAbsoluteForm("/http://a.example/"), { authority: undefined, target: "/http://a.example/" });
});

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
