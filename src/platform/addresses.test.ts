import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { addressName, forwardedAddress } from "./addresses.ts";

test("an IPv4 address is counted unchanged", () => {
  fc.assert(fc.property(fc.ipV4(), (address) => assert.equal(addressName(address), address)));
});

test("an IPv4 address mapped into IPv6 is counted as the IPv4 address, in every spelling", () => {
  for (const written of [
    "::ffff:192.0.2.33",
    "::FFFF:192.0.2.33",
    "::ffff:c000:221",
    "0:0:0:0:0:ffff:192.0.2.33",
    "0000:0000:0000:0000:0000:ffff:c000:0221",
  ]) {
    assert.equal(addressName(written), "192.0.2.33", written);
  }
});

test("an IPv6 address is counted by its first 64 bits, in every spelling", () => {
  for (const written of [
    "2001:db8::1",
    "2001:DB8:0:0:ffff:ffff:ffff:ffff",
    "2001:0db8:0000:0000::",
    "2001:db8::192.0.2.1",
    "2001:db8::1%eth0",
  ]) {
    assert.equal(addressName(written), "2001:db8:0:0::/64", written);
  }
  assert.equal(addressName("::1"), "0:0:0:0::/64");
  assert.equal(addressName("fe80::1"), "fe80:0:0:0::/64");
  assert.equal(addressName("1:2:3:4:5:6:7:8"), "1:2:3:4::/64");
});

test("two IPv6 addresses have one name exactly when their first 64 bits are equal", () => {
  const group = fc.constantFrom(0, 1, 0xdb8, 0xffff);
  const groups = fc.array(group, { minLength: 8, maxLength: 8 });
  const written = (address: number[]) => address.map((value) => value.toString(16)).join(":");
  const isMapped = (address: number[]) => address.slice(0, 5).every((value) => value === 0) && address[5] === 0xffff;
  fc.assert(
    fc.property(groups, groups, (one, other) => {
      fc.pre(!isMapped(one) && !isMapped(other));
      const together = one.slice(0, 4).every((value, i) => value === other[i]);
      assert.equal(addressName(written(one)) === addressName(written(other)), together);
    }),
  );
});

test("an entry of X-Forwarded-For is an address, with or without brackets and a port, or nothing", () => {
  const addresses = {
    "192.0.2.1": ["192.0.2.1", "192.0.2.1:1", "192.0.2.1:65535"],
    "2001:db8::1": ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"],
    "::ffff:192.0.2.1": ["::ffff:192.0.2.1", "[::ffff:192.0.2.1]:80"],
  };
  for (const [address, entries] of Object.entries(addresses)) {
    for (const entry of entries) assert.equal(forwardedAddress(entry), address, entry);
  }
  const junk = ["", "unknown", "_hidden", "shop.example", "192.0.2.1:", "192.0.2.1:x", "192.0.2.256:1", "[192.0.2.1]:1", "[]", "[::1"];
  for (const entry of [...junk, "::1]:5", "192.0.2.1:80:80"]) assert.equal(forwardedAddress(entry), undefined, entry);
});

test("a text that is not an address has a name of at most 64 characters", () => {
  for (const junk of ["", ":", ":::", "::1::2", "1:2:3", "1:2:3:4:5:6:7:8:9", "g::1", "::1.2.3.400", "12345::"])
    assert.equal(addressName(junk), junk);
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (junk) => assert.ok(addressName(junk).length <= 64)));
});
