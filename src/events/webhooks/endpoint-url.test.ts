import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "./endpoint-url.ts";

const notPublic = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.8",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "::8.8.8.8",
  "64:ff9b::808:808",
  "64:ff9b:1::1",
  "100::1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fe80::1%eth0",
  "2606:4700::1%eth0",
  "fec0::1",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "3fff::1",
  "5f00::1",
  "",
  "example.com",
  "1.2.3",
  "0x7f.1",
  "017700000001",
];

test("addresses that are not on the public internet are refused in every notation", () => {
  for (const address of notPublic) assert.equal(isPublicAddress(address), false, address);
});

test("public addresses are allowed, including those next to special ranges", () => {
  for (const address of [
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "169.253.0.1",
    "223.255.255.255",
  ])
    assert.equal(isPublicAddress(address), true, address);
  for (const address of ["2606:4700:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "2001:200::1", "2003::1"])
    assert.equal(isPublicAddress(address), true, address);
});
