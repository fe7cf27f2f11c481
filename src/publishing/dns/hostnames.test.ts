import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { Problem } from "../../platform/problem.ts";
import { parseHostname, recordFor, relativeName, sharedDomain } from "./hostnames.ts";

const own = { platformDomain: "petstore.app", publicHost: "dashboard.example.net" };
const parsed = (text: string): string => parseHostname(text, own).hostname;

function reasonFor(text: string, path?: string): string {
  let problem: unknown;
  try {
    parseHostname(text, own, path);
  } catch (error) {
    problem = error;
  }
  assert.ok(problem instanceof Problem, `${JSON.stringify(text)} was accepted`);
  assert.equal(problem.code, "invalid_request");
  assert.deepEqual(problem.details, [{ path: path ?? "body.hostname", message: problem.message }]);
  return problem.message;
}

describe("a host name", () => {
  const spellings: [typed: string, stored: string][] = [
    ["www.example.com", "www.example.com"],
    ["  WWW.Example.COM. \n", "www.example.com"],
    ["Bücher.example.com", "xn--bcher-kva.example.com"],
    ["bu\u0308cher.example.com", "xn--bcher-kva.example.com"],
    ["XN--BCHER-KVA.example.com", "xn--bcher-kva.example.com"],
    ["straße.de", "xn--strae-oqa.de"],
    ["例え。jp", "xn--r8jz45g.jp"],
    ["ｗｗｗ．example.com", "www.example.com"],
    ["a-1.example.com", "a-1.example.com"],
    ["shop.example.test", "shop.example.test"],
    [`${"a".repeat(63)}.example.com`, `${"a".repeat(63)}.example.com`],
    ["notpetstore.app", "notpetstore.app"],
    ["petstore.app.example.com", "petstore.app.example.com"],
    ["sub.dashboard.example.net", "sub.dashboard.example.net"],
  ];
  for (const [typed, stored] of spellings)
    it(`is stored as ${stored} when typed as ${JSON.stringify(typed)}`, () => assert.equal(parsed(typed), stored));

  const refused: [typed: string, reason: RegExp][] = [
    ["", /Enter a host name/],
    ["  ", /Enter a host name/],
    [".", /not a valid/],
    ["https://www.example.com/", /without http/],
    ["www.example.com/shop", /without a path/],
    ["www.example.com?x", /without a path/],
    ["www.example.com:8443", /without a port/],
    ["me@example.com", /not an email/],
    ["*.example.com", /Wildcards/],
    ["_dmarc.example.com", /underscores/],
    ["my shop.example.com", /no spaces/],
    ["ex%41mple.com", /no "%"/],
    ["shop\u0000.example.com", /control characters/],
    ["192.0.2.1", /not an IP/],
    ["127.1", /not an IP/],
    ["0x7f000001", /not an IP/],
    ["0177.0.0.1", /not an IP/],
    ["2130706433", /not an IP/],
    ["１２７.０.０.１", /not an IP/],
    ["1.2.3.4.5", /not an IP/],
    ["::1", /not an IP/],
    ["[2001:db8::1]", /not an IP/],
    ["[2001:db8::1]:443", /not an IP/],
    ["::ffff:192.0.2.1", /not an IP/],
    ["com", /public suffix/],
    ["co.uk", /public suffix/],
    ["github.io", /public suffix/],
    ["XN--55QX5D.cn", /public suffix/],
    ["petshop", /at least two parts/],
    ["localhost", /\.localhost are reserved/],
    ["shop.localhost", /\.localhost are reserved/],
    ["printer.local", /\.local are reserved/],
    ["shop.onion", /\.onion are reserved/],
    ["shop.internal", /\.internal are reserved/],
    ["shop.invalid", /\.invalid are reserved/],
    ["1.2.0.192.in-addr.arpa", /\.arpa are reserved/],
    ["petstore.app", /assigned by this service/],
    ["shop.petstore.app", /assigned by this service/],
    ["a.b.PetStore.app.", /assigned by this service/],
    ["dashboard.example.net", /this service itself/],
    ["www..example.com", /dot too many/],
    [".example.com", /dot too many/],
    ["example.com..", /dot too many/],
    ["-shop.example.com", /hyphen/],
    ["shop-.example.com", /hyphen/],
    ["ab--cd.example.com", /punycode/],
    ["xn--a.example.com", /punycode/],
    ["xn--.example.com", /hyphen|punycode/],
    ["xn--99999999.example.com", /punycode/],
    [`${"a".repeat(64)}.example.com`, /at most 63/],
    [`${"a.".repeat(122)}example.com`, /at most 253/],
    ["a".repeat(5000), /at most 253/],
    ["a\u200db.example.com", /international/],
    ["shop!.example.com", /no "!"/],
    ["shop.0-0", /last part .* has a letter/],
  ];
  for (const [typed, reason] of refused)
    it(`is refused when typed as ${JSON.stringify(typed.slice(0, 40))}`, () => assert.match(reasonFor(typed), reason));

  it("is refused at the path of its field", () => {
    reasonFor("localhost", "domains.redirects[0].from");
  });

  it("names the platform as the reason even if the platform is under a reserved name", () => {
    const local = { platformDomain: "petstore.localhost", publicHost: "localhost" };
    assert.throws(() => parseHostname("a.petstore.localhost", local), /assigned by this service/);
    assert.throws(() => parseHostname("localhost", local), /this service itself/);
  });

  it("any input is clearly refused or becomes a name in its canonical form, which is accepted again", () => {
    const label = fc.oneof(
      anyText({ maxLength: 12 }),
      fc.stringMatching(/^[a-zA-Z0-9-]{0,8}$/),
      fc.constantFrom("xn--", "xn--bcher-kva", "ü", "1", "0x1"),
    );
    const typed = fc.oneof(
      anyText(),
      fc.array(label, { maxLength: 6 }).map((labels) => labels.join(".")),
      fc.domain(),
    );
    fc.assert(
      fc.property(typed, (text) => {
        let name;
        try {
          name = parseHostname(text, own);
        } catch (error) {
          assert.ok(error instanceof Problem && error.code === "invalid_request" && error.message !== "");
          return;
        }
        assert.match(name.hostname, /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/);
        assert.ok(name.hostname === name.registrableDomain || name.hostname.endsWith(`.${name.registrableDomain}`));
        assert.equal(name.kind === "apex", name.hostname === name.registrableDomain);
        assert.deepEqual(parseHostname(` ${name.hostname.toUpperCase()}. `, own), name);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the domain that published projects share with the service", () => {
  const addresses: [publicHost: string, platformDomain: string, shared: string | null][] = [
    ["app.example.com", "sites.example.com", "example.com"],
    ["example.com", "sites.example.com", "example.com"],
    ["pets.example.co.uk", "sites.other.co.uk", null],
    ["pets.example.com", "example.app", null],
    ["one.github.io", "two.github.io", null],
    ["localhost", "petstore.localhost", null],
    ["127.0.0.1", "petstore.localhost", null],
  ];
  for (const [publicHost, platformDomain, shared] of addresses)
    it(`is ${shared ?? "none"} for ${publicHost} and ${platformDomain}`, () =>
      assert.equal(sharedDomain({ publicHost, platformDomain }), shared));
});

describe("the record to create", () => {
  const records: [hostname: string, type: string, name: string][] = [
    ["www.example.com", "CNAME", "www"],
    ["example.com", "ALIAS", "@"],
    ["shop.eu.example.co.uk", "CNAME", "shop.eu"],
    ["example.co.uk", "ALIAS", "@"],
    ["shop.github.io", "ALIAS", "@"],
    ["www.shop.github.io", "CNAME", "www"],
  ];
  for (const [hostname, type, name] of records)
    it(`is ${type} ${name} for ${hostname}`, () =>
      assert.deepEqual(recordFor(parseHostname(hostname, own), "petstore.app"), { type, name, value: "petstore.app", ttl: 3600 }));

  it("is absolute for a name outside the domain", () => assert.equal(relativeName("com", "example.com"), "com"));
});
