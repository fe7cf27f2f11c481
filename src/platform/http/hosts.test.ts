import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { normaliseName, parseHost, splitAbsoluteForm } from "./hosts.ts";

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
