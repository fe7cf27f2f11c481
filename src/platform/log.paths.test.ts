import assert from "node:assert/strict";
import { test } from "node:test";
import { loggedPath } from "./log.ts";

const key = "0123456789abcdefghijABCDEFGHIJ0qbdq0";
const token = "dGhlIHRva2VuIG9mIGEgc2lnbi1pbiBsaW5rIGlzIDQ";

test("a logged path has no query, and no key, token or webhook secret that a caller put there by mistake", () => {
  const cases: [url: string, logged: string][] = [
    ["/v1/pets?limit=1", "/v1/pets"],
    [`/v1/pets?key=psk_${key}`, "/v1/pets"],
    [`/v1/pets/psk_${key}`, "/v1/pets/psk_***"],
    [`/v1/psp_${key}/pets/psk_${key}x`, "/v1/psp_***/pets/psk_***x"],
    [`/v1/pets/psk%5F${key}`, "/v1/pets/psk%5F***"],
    [`/v1/pets/Bearer%20PSK_${key}`, "/v1/pets/Bearer%20PSK_***"],
    [`/sign-in%23token=${token}`, "/sign-in%23token=***"],
    [`/sign-in/${token}`, "/sign-in/***"],
    ["/hooks/whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "/hooks/whsec_***"],
  ];
  for (const [url, logged] of cases) assert.equal(loggedPath(url), logged);
});

test("a path without a secret is logged as it is", () => {
  for (const path of [
    "/",
    "/v1/pets/123456789012345/photos/psk_short",
    `/assets/app-${token}.js`,
    `/${"a".repeat(8_000)}`,
    "/a%5fb_c".repeat(9),
  ])
    assert.equal(loggedPath(path), path);
});
