import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  subdomain,
  apex,
  none,
  failed,
  timeout,
  at,
  here,
  nothing,
  noHints,
  target,
  facts,
  judges,
  type Row,
} from "../../../test/support/dns-facts.ts";
import { leadsHere } from "./dns.ts";

describe("a subdomain", () => {
  const a = at("www.example.com", "192.0.2.1");
  const aaaa = at("www.example.com", "2001:db8:ffff::1");
  const createCname = /Create a CNAME record: name "www", value "petstore\.app", TTL 3600/;
  const rows: Row[] = [
    { title: "verifies by the exact CNAME", facts: facts(here), code: null },
    {
      title: "verifies although the CNAME leads each asker to other addresses of the platform",
      facts: facts({ ...here, a: at("petstore.app", "198.51.100.77") }),
      code: null,
    },
    {
      title: "verifies by the exact CNAME while the platform's addresses cannot be looked up",
      facts: facts({ cname: here.cname, a: failed }, { target: { a: failed, aaaa: timeout } }),
      code: null,
    },
    {
      title: "with no record names the record to create",
      facts: facts({}),
      code: "record_missing",
      found: /^no record$/,
      fix: createCname,
      message: /48 hours/,
    },
    {
      title: "whose record was created one level too deep says so",
      facts: facts({}, { hints: { ...noHints, doubled: at("www.example.com.example.com", "petstore.app") } }),
      code: "record_missing",
      found: /at www\.example\.com\.example\.com/,
      fix: /from "www\.example\.com" to "www"/,
    },
    {
      title: "with an A record instead asks to delete it",
      facts: facts({ a }),
      code: "conflicting_record",
      found: /^A 192\.0\.2\.1$/,
      fix: /^Delete the A record 192\.0\.2\.1 of "www"\. Create a CNAME/,
      message: /has A records/,
    },
    {
      title: "with an AAAA record instead asks to delete it",
      facts: facts({ aaaa }),
      code: "conflicting_record",
      fix: /^Delete the AAAA record 2001:db8:ffff::1/,
    },
    {
      title: "with A and AAAA records instead names both",
      facts: facts({ a, aaaa }),
      code: "conflicting_record",
      found: /^A 192\.0\.2\.1, AAAA 2001:db8:ffff::1$/,
      message: /A and AAAA/,
    },
    {
      title: "with the platform's own addresses instead explains why that is not enough",
      facts: facts({ a: at("www.example.com", "198.51.100.2") }),
      code: "conflicting_record",
      message: /points here by addresses/,
      fix: /flattening/,
    },
    {
      title: "behind a proxying DNS provider names the switch to turn",
      facts: facts({ a }, { hints: { ...noHints, nameservers: at("example.com", "ada.ns.cloudflare.com", "bob.ns.cloudflare.com") } }),
      code: "conflicting_record",
      fix: /Cloudflare hides it behind its proxy: set "www" to "DNS only"/,
    },
    {
      title: "answered by the wildcard of a parking page says that the name has no record",
      facts: facts({ a }, { hints: { ...noHints, sibling: { ...nothing, a: at("petstore-1.example.com", "192.0.2.1") } } }),
      code: "conflicting_record",
      message: /wildcard/,
      fix: /Create a CNAME.*wildcard can stay/,
    },
    {
      title: "with the right CNAME and a foreign A record beside it asks to delete that",
      facts: facts({ ...here, a }),
      code: "conflicting_record",
      found: /^A 192\.0\.2\.1$/,
      fix: /^Delete the A record/,
      message: /right CNAME/,
    },
    {
      title: "with another CNAME says what to change",
      facts: facts({ cname: at("www.example.com", "shops.example.net") }),
      code: "wrong_target",
      found: /^CNAME shops\.example\.net$/,
      fix: /^Change the value of the CNAME record "www" to "petstore\.app"\.$/,
    },
    {
      title: "with a mistyped CNAME says that it looks mistyped",
      facts: facts({ cname: at("www.example.com", "pestore.app") }),
      code: "wrong_target",
      message: /typing error/,
    },
    {
      title: "with swapped letters in its CNAME says so as well",
      facts: facts({ cname: at("www.example.com", "petsotre.apps") }),
      code: "wrong_target",
      message: /typing error/,
    },
    {
      title: "whose provider added the domain to the value mentions the final dot",
      facts: facts({ cname: at("www.example.com", "petstore.app.example.com") }),
      code: "wrong_target",
      fix: /"petstore\.app\.", with a dot at its end/,
    },
    {
      title: "that leads to a project's address names the platform's",
      facts: facts({ cname: at("www.example.com", "my-shop.petstore.app") }),
      code: "wrong_target",
      message: /address of one project/,
    },
    {
      title: "with a CNAME from a wildcard asks to create a record",
      facts: facts(
        { cname: at("www.example.com", "parked.example.net") },
        { hints: { ...noHints, sibling: { ...nothing, cname: at("x.example.com", "parked.example.net") } } },
      ),
      code: "wrong_target",
      fix: /Create a CNAME/,
    },
    {
      title: "with two CNAME records, one of them wrong, does not verify",
      facts: facts({ cname: at("www.example.com", "petstore.app", "shops.example.net") }),
      code: "wrong_target",
    },
    {
      title: "whose CNAME look-up ends in SERVFAIL stays as it is",
      facts: facts({ cname: failed, a }),
      code: "lookup_failed",
      outcome: "unknown",
      message: /DNSSEC/,
      found: /^SERVFAIL for CNAME www\.example\.com$/,
    },
    {
      title: "whose A look-up times out is neither missing nor in conflict",
      facts: facts({ a: timeout, aaaa }),
      code: "lookup_failed",
      outcome: "unknown",
      message: /no answer in time/,
    },
    {
      title: "whose AAAA look-up is refused is neither missing nor in conflict",
      facts: facts({ aaaa: { ...failed, reason: "REFUSED" } }),
      code: "lookup_failed",
      outcome: "unknown",
    },
  ];
  for (const row of rows) judges(row);
});

describe("an apex", () => {
  const ours = at("example.com", "198.51.100.2");
  const foreign = at("example.com", "192.0.2.1");
  const createAlias = /Create an ALIAS \(or ANAME\) record: name "@", value "petstore\.app", TTL 3600/;
  const rows: Row[] = [
    {
      title: "verifies by addresses that are all the platform's",
      facts: facts({ a: ours, aaaa: at("example.com", "2001:db8::1") }),
      code: null,
    },
    { title: "verifies by some of the platform's addresses", facts: facts({ a: ours }), code: null },
    {
      title: "verifies by a CNAME that its provider shows and flattens",
      facts: facts({ cname: at("example.com", "petstore.app"), a: at("petstore.app", "198.51.100.1") }),
      code: null,
    },
    {
      title: "verifies by a chain of CNAMEs that ends at the platform's addresses, as an alias does",
      facts: facts({ cname: at("example.com", "alias.example.net"), a: at("alias.example.net", "198.51.100.1") }),
      code: null,
    },
    {
      title: "with a CNAME to a foreign name without addresses says so",
      facts: facts({ cname: at("example.com", "shops.example.net") }),
      code: "wrong_target",
      fix: /Delete the CNAME record.*ALIAS/,
    },
    { title: "with no record names the record to create", facts: facts({}), code: "record_missing", fix: createAlias, message: /48 hours/ },
    {
      title: "with foreign addresses asks to delete them and create the record",
      facts: facts({ a: foreign }),
      code: "conflicting_record",
      fix: new RegExp(`Delete the A record 192\\.0\\.2\\.1 of "@"\\. ${createAlias.source}`),
    },
    {
      title: "with a leftover AAAA record says that it misleads IPv6",
      facts: facts({ a: ours, aaaa: at("example.com", "2001:db8:ffff::1") }),
      code: "conflicting_record",
      message: /AAAA record left over/,
      found: /^AAAA 2001:db8:ffff::1$/,
      fix: /^Delete the AAAA record 2001:db8:ffff::1 of "@"\.$/,
    },
    {
      title: "with one foreign address among its own asks to delete just that",
      facts: facts({ a: at("example.com", "198.51.100.1", "192.0.2.1") }),
      code: "conflicting_record",
      found: /^A 192\.0\.2\.1$/,
      fix: /^Delete the A record 192\.0\.2\.1 of "@"\.$/,
    },
    {
      title: "behind a proxying DNS provider names the switch to turn",
      facts: facts({ a: foreign }, { hints: { ...noHints, nameservers: at("example.com", "ada.ns.cloudflare.com") } }),
      code: "conflicting_record",
      fix: /Cloudflare.*"DNS only"/,
    },
    {
      title: "with a CNAME to a foreign name says so",
      facts: facts({ cname: at("example.com", "shops.example.net"), a: at("shops.example.net", "192.0.2.1") }),
      code: "wrong_target",
      fix: /Delete the CNAME record.*ALIAS/,
    },
    {
      title: "stays as it is while its own look-up fails",
      facts: facts({ a: ours, aaaa: failed }),
      code: "lookup_failed",
      outcome: "unknown",
    },
    {
      title: "stays as it is while the platform's look-up fails",
      facts: facts({ a: foreign }, { target: { ...target, aaaa: timeout } }),
      code: "lookup_failed",
      outcome: "unknown",
      found: /petstore\.app/,
    },
    {
      title: "is not blamed for a platform without addresses",
      facts: facts({ a: foreign }, { target: { a: none, aaaa: none } }),
      code: "lookup_failed",
      outcome: "unknown",
      fix: /operator of this service/,
    },
  ];
  for (const row of rows) judges({ expected: apex, ...row });
});

describe("a record that still points here", () => {
  it("is recognized without proof or CAA, and only if no look-up failed", () => {
    assert.equal(leadsHere(subdomain, facts(here)), true);
    assert.equal(leadsHere(subdomain, facts({})), false);
    assert.equal(leadsHere(subdomain, facts({ cname: failed })), false);
  });
});
