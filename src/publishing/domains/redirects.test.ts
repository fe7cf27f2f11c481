import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Problem } from "../../platform/problem.ts";
import { applyConfig, changeName, redirectProblem, type Redirect, type SiteName } from "./redirects.ts";

const name = (hostname: string, redirect: Redirect | null = null, primary = false): SiteName => ({ hostname, primary, redirect });
const to = (hostname: string, status: Redirect["status"] = 301): Redirect => ({ to: hostname, status });
const find = (names: SiteName[], hostname: string): SiteName => names.find((one) => one.hostname === hostname)!;
const two = [name("example.com"), name("www.example.com", null, true)];

const refusedAt = (path: string, words: RegExp) => (error: unknown) =>
  error instanceof Problem && error.code === "invalid_request" && error.details?.[0]?.path === path && words.test(error.message);

describe("a redirect set by the API", () => {
  for (const status of [301, 302, 307, 308])
    it(`may have the status ${status}`, () =>
      assert.deepEqual(find(changeName(two, "example.com", { redirect: { to: "www.example.com", status } }), "example.com").redirect, {
        to: "www.example.com",
        status,
      }));

  it("has the status 301 unless told, keeps what a patch leaves out, and ends with null", () => {
    const set = changeName(two, "example.com", { redirect: { to: "www.example.com" } });
    assert.deepEqual(find(set, "example.com").redirect, to("www.example.com"));
    const patched = changeName(set, "example.com", { redirect: { status: 308 } });
    assert.deepEqual(find(patched, "example.com").redirect, to("www.example.com", 308));
    assert.deepEqual(find(changeName(patched, "example.com", { primary: false }), "example.com").redirect, to("www.example.com", 308));
    assert.equal(find(changeName(patched, "example.com", { redirect: null }), "example.com").redirect, null);
  });

  const chain = [name("a.example.com", to("b.example.com")), name("b.example.com"), name("c.example.com")];
  const refusals: [
    title: string,
    names: SiteName[],
    hostname: string,
    change: Parameters<typeof changeName>[2],
    path: string,
    words: RegExp,
  ][] = [
    [
      "another status",
      two,
      "example.com",
      { redirect: { to: "www.example.com", status: 303 } },
      "body.redirect.status",
      /301, 302, 307, 308/,
    ],
    ["no target", two, "example.com", { redirect: { status: 301 } }, "body.redirect.to", /needs the name/],
    [
      "a foreign target",
      two,
      "example.com",
      { redirect: { to: "other.example.net" } },
      "body.redirect.to",
      /No name "other\.example\.net" is attached/,
    ],
    ["itself as the target", two, "example.com", { redirect: { to: "example.com" } }, "body.redirect.to", /to itself/],
    [
      "a target that redirects",
      chain,
      "c.example.com",
      { redirect: { to: "a.example.com" } },
      "body.redirect.to",
      /redirects to b\.example\.com/,
    ],
    [
      "a loop",
      chain,
      "b.example.com",
      { redirect: { to: "a.example.com" } },
      "body.redirect",
      /loop: a\.example\.com → b\.example\.com → a\.example\.com/,
    ],
    [
      "a name that others redirect to",
      chain,
      "b.example.com",
      { redirect: { to: "c.example.com" } },
      "body.redirect",
      /a\.example\.com would redirect/,
    ],
    ["a primary name that redirects", chain, "a.example.com", { primary: true }, "body.primary", /cannot be the primary/],
  ];
  for (const [title, names, hostname, change, path, words] of refusals)
    it(`is refused with ${title}`, () => assert.throws(() => changeName(names, hostname, change), refusedAt(path, words)));

  it("makes its target primary where it is set on the primary name", () => {
    const names = changeName(two, "www.example.com", { redirect: { to: "example.com" } });
    assert.equal(find(names, "example.com").primary, true);
    assert.equal(find(names, "www.example.com").primary, false);
  });

  it("leaves one primary name when another is made primary", () => {
    assert.deepEqual(
      changeName(two, "example.com", { primary: true }).map(({ primary }) => primary),
      [true, false],
    );
  });

  it("does not stand in the way of other changes once its target is removed, and is shown as a problem", () => {
    const orphan = name("old.example.com", to("gone.example.com"));
    const names = [orphan, ...two];
    assert.equal(
      find(changeName(names, "example.com", { redirect: { to: "www.example.com" } }), "old.example.com").redirect?.to,
      "gone.example.com",
    );
    assert.equal(find(changeName(names, "old.example.com", { primary: false }), "old.example.com").redirect?.to, "gone.example.com");
    assert.equal(redirectProblem(orphan, names)?.code, "redirect_target_missing");
    assert.match(redirectProblem(orphan, names)!.message, /gone\.example\.com, which has been removed/);
    assert.equal(redirectProblem(name("a.example.com", to("example.com")), names), null);
    assert.equal(redirectProblem(name("example.com"), names), null);
  });

  it("of a name that is not attached is not found", () => {
    assert.throws(
      () => changeName(two, "x.example.com", {}),
      (error) => error instanceof Problem && error.code === "not_found",
    );
  });
});

describe("the domains of petstore.json", () => {
  it("add what is not attached yet, set primary and redirects, and leave other names alone", () => {
    const { names, added } = applyConfig([name("old.example.com"), name("example.com")], {
      primary: "www.example.com",
      redirects: [{ from: "example.com", to: "www.example.com", status: 308 }],
    });
    assert.deepEqual(added, ["www.example.com"]);
    assert.deepEqual(names, [
      name("old.example.com"),
      name("example.com", to("www.example.com", 308)),
      name("www.example.com", null, true),
    ]);
  });

  it("can turn a redirect round in one step", () => {
    const before = [name("example.com", null, true), name("www.example.com", to("example.com"))];
    const { names } = applyConfig(before, { redirects: [{ from: "example.com", to: "www.example.com" }] });
    assert.deepEqual(names, [name("example.com", to("www.example.com")), name("www.example.com", null, true)]);
  });

  const refusals: [title: string, config: Parameters<typeof applyConfig>[1], path: string, words: RegExp][] = [
    [
      "two redirects from one name",
      {
        redirects: [
          { from: "a.example.com", to: "b.example.com" },
          { from: "a.example.com", to: "c.example.com" },
        ],
      },
      "domains.redirects[1].from",
      /more than one/,
    ],
    [
      "a primary name that redirects",
      { primary: "a.example.com", redirects: [{ from: "a.example.com", to: "b.example.com" }] },
      "domains.redirects[0].from",
      /primary/,
    ],
    [
      "a loop",
      {
        redirects: [
          { from: "a.example.com", to: "b.example.com" },
          { from: "b.example.com", to: "a.example.com" },
        ],
      },
      "domains.redirects[0].to",
      /loop/,
    ],
    ["another status", { redirects: [{ from: "a.example.com", to: "b.example.com", status: 200 }] }, "domains.redirects[0].status", /301/],
    [
      "a redirect from the target of a name not listed",
      { redirects: [{ from: "www.example.com", to: "b.example.com" }] },
      "domains.redirects",
      /old\.example\.com would redirect/,
    ],
  ];
  for (const [title, config, path, words] of refusals)
    it(`are refused with ${title}`, () =>
      assert.throws(
        () => applyConfig([name("www.example.com"), name("old.example.com", to("www.example.com"))], config),
        refusedAt(path, words),
      ));

  it("are refused, or leave every redirect at a served name and at most one primary name, which is served", () => {
    const hostname = fc.constantFrom("a", "b", "c", "d").map((label) => `${label}.example.com`);
    const redirect = fc.record({ from: hostname, to: hostname, status: fc.constantFrom(301, 302, 307, 308) });
    const config = fc.record({ primary: hostname, redirects: fc.array(redirect, { maxLength: 4 }) }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(config, { maxLength: 4 }), (configs) => {
        let names: SiteName[] = [];
        for (const one of configs) {
          try {
            names = applyConfig(names, one).names;
          } catch (error) {
            assert.ok(error instanceof Problem && error.code === "invalid_request");
          }
          const served = new Set(names.filter((each) => each.redirect === null).map((each) => each.hostname));
          assert.ok(names.every((each) => each.redirect === null || served.has(each.redirect.to)));
          const primaries = names.filter((each) => each.primary);
          assert.ok(primaries.length <= 1 && primaries.every((each) => served.has(each.hostname)));
        }
      }),
    );
  });
});
