import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../platform/problem.ts";
import { parseProjectFile } from "./project-file.ts";

const parse = (value: unknown) => parseProjectFile(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
const redirects = (...list: unknown[]) => ({ domains: { redirects: list } });

test("name, primary and redirects are read; the status of a redirect is 301 by default", () => {
  assert.deepEqual(
    parse({
      name: " Shop ",
      domains: {
        primary: "WWW.Example.com.",
        redirects: [
          { from: "example.com", to: "www.example.com" },
          { from: "old.example.com", to: "www.example.com", status: 308 },
        ],
      },
    }),
    {
      name: "Shop",
      domains: {
        primary: "www.example.com",
        redirects: [
          { from: "example.com", to: "www.example.com", status: 301 },
          { from: "old.example.com", to: "www.example.com", status: 308 },
        ],
      },
      storefront: undefined,
    },
  );
});

test("a file without domains has none", () => {
  const none = { name: undefined, domains: { primary: undefined, redirects: undefined }, storefront: undefined };
  assert.deepEqual(parse({}), none);
  assert.deepEqual(parse({ domains: {} }), none);
  assert.deepEqual(parse("\uFEFF{}"), none);
});

test("an empty list of redirects differs from an absent one", () => {
  assert.deepEqual(parse({ domains: { redirects: [] } }).domains, { primary: undefined, redirects: [] });
});

test("international names become punycode", () => {
  assert.equal(parse({ domains: { primary: "bücher.example" } }).domains.primary, "xn--bcher-kva.example");
});

test("each mistake is reported with its field and what to write instead", () => {
  const refused: [unknown, RegExp][] = [
    ["{", /is not JSON/],
    ["[]", /must be an object/],
    ["null", /must be an object/],
    [{ domain: {} }, /unknown field "domain"; known are/],
    [{ name: "" }, /`name` must be a text of 1 to 200/],
    [{ name: 5 }, /`name` must be a text/],
    [{ domains: [] }, /`domains` must be an object/],
    [{ domains: { primary: "https://www.example.com" } }, /write the host name alone/],
    [{ domains: { primary: "example.com:443" } }, /write the host name alone/],
    [{ domains: { primary: "*.example.com" } }, /not a public host name/],
    [{ domains: { primary: "localhost" } }, /not a public host name/],
    [{ domains: { primary: "127.0.0.1" } }, /not a public host name/],
    [{ domains: { primary: "0x7f.1" } }, /not a public host name/],
    [{ domains: { primary: "-a.example" } }, /not a public host name/],
    [{ domains: { primary: `${"a".repeat(64)}.example` } }, /not a public host name/],
    [{ domains: { primary: 1 } }, /must be a host name in quotes/],
    [{ domains: { redirects: {} } }, /must be a list/],
    [{ domains: { redirects: null } }, /must be a list/],
    [redirects({ from: "a.example", to: "b.example", status: 303 }), /`domains\.redirects\[0\]\.status` must be 301, 302, 307 or 308/],
    [redirects({ from: "a.example" }), /`domains\.redirects\[0\]\.to` must be a host name/],
    [redirects({ from: "a.example", to: "a.example" }), /cannot redirect to itself/],
    [
      redirects({ from: "a.example", to: "b.example" }, { from: "b.example", to: "a.example" }),
      /domains\.redirects\[0\]\.to: These redirects make a loop: a\.example → b\.example → a\.example/,
    ],
    [redirects({ from: "a.example", to: "b.example" }, { from: "A.example", to: "c.example" }), /a\.example has more than one redirect/],
    [
      { domains: { primary: "a.example", redirects: [{ from: "a.example", to: "b.example" }] } },
      /domains\.redirects\[0\]\.from: a\.example is the primary name, so it cannot redirect/,
    ],
    [redirects(...Array.from({ length: 101 }, (_, index) => ({ from: `a${index}.example`, to: "b.example" }))), /the limit is 100/],
  ];
  for (const [value, message] of refused) {
    assert.throws(() => parse(value), { name: "Problem", code: "invalid_request", message }, JSON.stringify(value));
  }
  assert.throws(() => parseProjectFile(Uint8Array.of(0xff, 0xfe, 0x7b)), /is not UTF-8/);
});

test("any file gives a project or a Problem", () => {
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .record({ domains: fc.record({ primary: fc.string(), redirects: fc.array(fc.record({ from: fc.domain(), to: fc.string() })) }) })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(anything, (text) => {
      try {
        parse(text);
      } catch (error) {
        assert.ok(error instanceof Problem, String(error));
      }
    }),
  );
});
