import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { name, pending, to } from "../../../test/support/site-names.ts";
import { Problem } from "../../platform/problem.ts";
import { configuredPrimary, applyConfig, changeName, type SiteName } from "./redirects.ts";

const find = (names: SiteName[], hostname: string): SiteName => names.find((one) => one.hostname === hostname)!;
const two = [name("example.com"), name("www.example.com", null, true)];

const refusedAt = (path: string, words: RegExp) => (error: unknown) =>
  error instanceof Problem && error.code === "invalid_request" && error.details?.[0]?.path === path && words.test(error.message);

describe("a redirect set by the API", () => {
  for (const status of [301, 302, 307, 308] as const)
    it(`may have the status ${status}`, () =>
      assert.deepEqual(find(changeName(two, "example.com", { redirect: { to: "www.example.com", status } }), "example.com").redirect, {
        to: "www.example.com",
        status,
      }));

  it("has the status 301 by default, keeps the members that a patch omits, and is removed by null", () => {
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
    ["no target", two, "example.com", { redirect: { status: 301 } }, "body.redirect.to", /needs a target/],
    [
      "a foreign target",
      two,
      "example.com",
      { redirect: { to: "other.example.net" } },
      "body.redirect.to",
      /^No name "other\.example\.net" is attached to this project\. Add it first/,
    ],
    [
      "a mistyped target",
      two,
      "example.com",
      { redirect: { to: "wwww.example.com" } },
      "body.redirect.to",
      /^No name "wwww\.example\.com" is attached to this project\. That looks like a typing error for www\.example\.com\.$/,
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

  it("makes its target primary if it is set on the primary name", () => {
    const names = changeName(two, "www.example.com", { redirect: { to: "example.com" } });
    assert.equal(find(names, "example.com").primary, true);
    assert.equal(find(names, "www.example.com").primary, false);
  });

  it("of the primary name needs a verified target, unless the name stops being primary", () => {
    const names = [name("www.example.com", null, true), pending("new.example.com")];
    const change = (more: object) => changeName(names, "www.example.com", { redirect: { to: "new.example.com" }, ...more });
    assert.throws(
      () => change({}),
      (error) => error instanceof Problem && error.code === "domain_not_verified",
    );
    assert.deepEqual(change({ primary: false }), [name("www.example.com", to("new.example.com")), pending("new.example.com")]);
  });

  it("cannot be set together with `primary`", () => {
    assert.throws(
      () => changeName(two, "example.com", { primary: true, redirect: { to: "www.example.com" } }),
      refusedAt("body.primary", /cannot be the primary name/),
    );
  });

  it("makes only a verified name primary, and leaves a primary name that has failed since", () => {
    for (const status of ["pending", "failing"] as const) {
      const names = [{ ...pending("example.com"), status }, name("www.example.com", null, true)];
      assert.throws(
        () => changeName(names, "example.com", { primary: true }),
        (error) => error instanceof Problem && error.code === "domain_not_verified",
      );
    }
    const failing: SiteName = { ...pending("www.example.com", null, true), status: "failing" };
    assert.deepEqual(changeName([failing], "www.example.com", { primary: true }), [failing]);
  });

  it("leaves one primary name when another is made primary", () => {
    assert.deepEqual(
      changeName(two, "example.com", { primary: true }).map(({ primary }) => primary),
      [true, false],
    );
  });

  it("does not block other changes once its target is removed", () => {
    const orphan = name("old.example.com", to("gone.example.com"));
    const names = [orphan, ...two];
    assert.equal(
      find(changeName(names, "example.com", { redirect: { to: "www.example.com" } }), "old.example.com").redirect?.to,
      "gone.example.com",
    );
    assert.equal(find(changeName(names, "old.example.com", { primary: false }), "old.example.com").redirect?.to, "gone.example.com");
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
      pending("www.example.com", null, true),
    ]);
  });

  it("never add a name that only appears in `to`", () => {
    const { added } = applyConfig([name("www.example.com")], { redirects: [{ from: "example.com", to: "www.example.com" }] });
    assert.deepEqual(added, ["example.com"]);
  });

  it("replace all redirects if they list any, and leave them as they are if they do not", () => {
    const before = [name("www.example.com"), name("a.example.com", to("www.example.com")), name("b.example.com", to("www.example.com"))];
    const redirectsAfter = (config: Parameters<typeof applyConfig>[1]) =>
      applyConfig(before, config).names.map(({ redirect }) => redirect?.to ?? null);
    assert.deepEqual(redirectsAfter({ redirects: [] }), [null, null, null]);
    assert.deepEqual(redirectsAfter({ redirects: [{ from: "b.example.com", to: "a.example.com" }] }), [null, null, "a.example.com"]);
    assert.deepEqual(redirectsAfter({}), [null, "www.example.com", "www.example.com"]);
    assert.deepEqual(redirectsAfter({ primary: "a.example.com" }), [null, null, "www.example.com"], "the primary name has none");
  });

  it("choose a primary name that is not ready without ending the one in effect, which is replaced once the new one is ready", () => {
    const before = [name("www.example.com", null, true), name("example.com")];
    const { names } = applyConfig(before, { primary: "new.example.com" });
    assert.deepEqual(names, [...before, { ...pending("new.example.com"), becomesPrimary: true }]);
    assert.equal(configuredPrimary(names), "new.example.com");
    const other = changeName(names, "example.com", { primary: true });
    assert.deepEqual(other, [name("www.example.com"), name("example.com", null, true), pending("new.example.com")]);
    assert.deepEqual(applyConfig(names, { primary: "www.example.com" }).names, [...before, pending("new.example.com")]);
    assert.deepEqual(changeName(names, "new.example.com", { primary: false }), [...before, pending("new.example.com")]);
    const ended = changeName(names, "www.example.com", { primary: false });
    assert.deepEqual(ended, [name("www.example.com"), name("example.com"), pending("new.example.com", null, true)]);
  });

  it("choose a primary name at once if none is in effect", () => {
    const before = [pending("www.example.com", null, true)];
    const { names } = applyConfig(before, { primary: "new.example.com" });
    assert.deepEqual(names, [pending("www.example.com"), pending("new.example.com", null, true)]);
  });

  it("can reverse a redirect in one step", () => {
    const before = [name("example.com", null, true), name("www.example.com", to("example.com"))];
    const { names } = applyConfig(before, { redirects: [{ from: "example.com", to: "www.example.com" }] });
    assert.deepEqual(names, [name("example.com", to("www.example.com")), name("www.example.com", null, true)]);
    const waiting = applyConfig([name("example.com", null, true), pending("www.example.com")], {
      redirects: [{ from: "example.com", to: "www.example.com" }],
    });
    assert.deepEqual(waiting.names, [name("example.com", to("www.example.com")), pending("www.example.com", null, true)]);
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
          { from: "a.example.com", to: "old.example.com" },
          { from: "old.example.com", to: "a.example.com" },
        ],
      },
      "domains.redirects[0].to",
      /loop/,
    ],
    [
      "a target that is not attached",
      { redirects: [{ from: "a.example.com", to: "ww.example.com" }] },
      "domains.redirects[0].to",
      /No name "ww\.example\.com" is attached to this project\. That looks like a typing error for www\.example\.com\./,
    ],
    [
      "a target that is itself a `from`",
      {
        redirects: [
          { from: "a.example.com", to: "old.example.com" },
          { from: "old.example.com", to: "www.example.com" },
        ],
      },
      "domains.redirects[0].to",
      /a\.example\.com would redirect to old\.example\.com, which redirects/,
    ],
    ["a redirect to itself", { redirects: [{ from: "a.example.com", to: "a.example.com" }] }, "domains.redirects[0].to", /to itself/],
  ];
  for (const [title, config, path, words] of refusals)
    it(`are refused with ${title}`, () =>
      assert.throws(
        () => applyConfig([name("www.example.com"), name("old.example.com", to("www.example.com"))], config),
        refusedAt(path, words),
      ));

  it("are refused, or leave redirects that all lead to a served name and at most one primary name, which is served", () => {
    const hostname = fc.constantFrom("a", "b", "c", "d").map((label) => `${label}.example.com`);
    const redirect = fc.record({ from: hostname, to: hostname, status: fc.constantFrom(301, 302, 307, 308) });
    const config = fc.record({ primary: hostname, redirects: fc.array(redirect, { maxLength: 4 }) }, { requiredKeys: [] });
    const verifies = fc.subarray(["a.example.com", "b.example.com", "c.example.com", "d.example.com"]);
    fc.assert(
      fc.property(fc.array(fc.tuple(config, verifies), { maxLength: 4 }), (configs) => {
        let names: SiteName[] = [];
        for (const [one, verified] of configs) {
          names = names.map((each) => (verified.includes(each.hostname) ? { ...each, status: "verified", ready: true } : each));
          try {
            names = applyConfig(names, one).names;
          } catch (error) {
            assert.ok(error instanceof Problem && error.code === "invalid_request");
          }
          const served = new Set(names.filter((each) => each.redirect === null).map((each) => each.hostname));
          assert.ok(names.every((each) => each.redirect === null || served.has(each.redirect.to)));
          for (const chosen of [names.filter((each) => each.primary), names.filter((each) => each.becomesPrimary)])
            assert.ok(chosen.length <= 1 && chosen.every((each) => served.has(each.hostname)));
        }
      }),
    );
  });
});
