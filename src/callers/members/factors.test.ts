import assert from "node:assert/strict";
import { test } from "node:test";
import { base32, codeOf, newTotpSecret, stepAt, stepOfCode, totpUri, typedSecret } from "./factors.ts";

/** The SHA-1 values of RFC 6238, appendix B. They have eight digits; the service uses the last six. */
const rfcSecret = Buffer.from("12345678901234567890").toString("base64url");
const vectors: [seconds: number, code: string][] = [
  [59, "94287082"],
  [1_111_111_109, "07081804"],
  [1_111_111_111, "14050471"],
  [1_234_567_890, "89005924"],
  [2_000_000_000, "69279037"],
  [20_000_000_000, "65353130"],
];

test("the codes match RFC 6238", () => {
  for (const [seconds, code] of vectors) assert.equal(codeOf(rfcSecret, stepAt(seconds * 1_000)), code.slice(-6), `at ${seconds} s`);
});

test("a code is accepted during its 30 seconds and in the 30 seconds before and after them, and never later", () => {
  const now = Date.UTC(2030, 0, 1);
  const step = stepAt(now);
  for (const [ms, found] of [
    [-30_001, undefined],
    [-30_000, step],
    [0, step],
    [59_999, step],
    [60_000, undefined],
  ] as const) {
    assert.equal(stepOfCode(rfcSecret, codeOf(rfcSecret, step), now + ms), found, `${ms} ms`);
  }
  for (const code of ["", "12345", "1234567", "abcdef"]) assert.equal(stepOfCode(rfcSecret, code, now), undefined);
});

test("base32 matches RFC 4648, without padding", () => {
  const texts = { "": "", f: "my", fo: "mzxq", foo: "mzxw6", foob: "mzxw6yq", fooba: "mzxw6ytb", foobar: "mzxw6ytboi" };
  for (const [text, encoded] of Object.entries(texts)) assert.equal(base32(Buffer.from(text)), encoded);
});

test("the URI names the shop and the member, whatever characters they have, and holds a secret of 160 bits", () => {
  const secret = newTotpSecret();
  const uri = new URL(totpUri(secret, { account: "Ann & Bob: pets?", email: "ann+1@shop.example" }));
  assert.equal(uri.protocol, "otpauth:");
  assert.equal(decodeURIComponent(uri.pathname), "/Ann & Bob  pets?:ann+1@shop.example");
  assert.equal(uri.searchParams.get("issuer"), "Ann & Bob  pets?");
  assert.equal(uri.searchParams.get("secret"), typedSecret(secret));
  assert.match(typedSecret(secret), /^[A-Z2-7]{32}$/);
});
