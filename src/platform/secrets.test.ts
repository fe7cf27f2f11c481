import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { anyText } from "../../test/support/any-text.ts";
import { decryptSecret, encryptSecret, newSecretsKey, parseSecretsKeys } from "./secrets.ts";

function flip(text: string, bit: number): string {
  const bytes = Buffer.from(text, "base64url");
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString("base64url");
}

describe("secrets at rest", () => {
  const key = newSecretsKey();
  const keys = parseSecretsKeys(key);

  it("decrypt to the same text, and never encrypt to the same envelope twice", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), fc.string(), (secret, owner) => {
        const envelope = encryptSecret(keys, secret, owner);
        assert.equal(decryptSecret(keys, envelope, owner), secret.toWellFormed());
        assert.notEqual(encryptSecret(keys, secret, owner), envelope);
      }),
    );
  });

  it("cannot be read in the envelope", () => {
    const envelope = encryptSecret(keys, "-----BEGIN PRIVATE KEY-----", "shop.test");
    assert.doesNotMatch(Buffer.from(envelope.split(".")[3]!, "base64url").toString("latin1"), /PRIVATE/);
  });

  it("do not decrypt for another owner", () => {
    assert.throws(() => decryptSecret(keys, encryptSecret(keys, "secret", "a.test"), "b.test"), /another owner/);
  });

  it("do not decrypt if a single bit of nonce, text or tag has changed", () => {
    const [version, id, nonce, sealed] = encryptSecret(keys, "secret", "a.test").split(".");
    for (let bit = 0; bit < 12 * 8; bit++)
      assert.throws(() => decryptSecret(keys, [version, id, flip(nonce!, bit), sealed].join("."), "a.test"));
    for (let bit = 0; bit < 22 * 8; bit++)
      assert.throws(() => decryptSecret(keys, [version, id, nonce, flip(sealed!, bit)].join("."), "a.test"));
  });

  it("refuse envelopes that are cut, extended or of another version", () => {
    const envelope = encryptSecret(keys, "secret", "a.test");
    const parts = envelope.split(".");
    const shortTag = [...parts.slice(0, 3), Buffer.from(parts[3]!, "base64url").subarray(0, 15).toString("base64url")].join(".");
    for (const wrong of ["", "v1", envelope.replace("v1", "v2"), `${envelope}.x`, parts.slice(0, 3).join("."), shortTag]) {
      assert.throws(() => decryptSecret(keys, wrong, "a.test"), /not an encrypted secret/, wrong);
    }
  });

  it("survive a change of key: the earlier one still decrypts, the new one encrypts", () => {
    const before = encryptSecret(keys, "secret", "a.test");
    const rotated = parseSecretsKeys(`${newSecretsKey()},${key}`);
    assert.equal(decryptSecret(rotated, before, "a.test"), "secret");
    const renewed = encryptSecret(rotated, "secret", "a.test");
    assert.throws(() => decryptSecret(keys, renewed, "a.test"), /SECRETS_KEY does not hold/);
  });

  it("need a key of exactly 32 bytes, and an error never repeats the value", () => {
    for (const wrong of [
      "",
      "short",
      Buffer.alloc(31).toString("base64"),
      Buffer.alloc(33).toString("base64"),
      `${key}!`,
      `${key},`,
      "é".repeat(44),
    ]) {
      assert.throws(
        () => parseSecretsKeys(wrong),
        (error: Error) => error instanceof TypeError && (wrong === "" || !error.message.includes(wrong)),
      );
    }
  });
});
