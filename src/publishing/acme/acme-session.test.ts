import assert from "node:assert/strict";
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, it } from "node:test";
import { bindExternalAccount, publicJwk, signRequest, thumbprint } from "./acme-session.ts";
import { newPrivateKey } from "./x509.ts";

type Jws = { protected: string; payload: string; signature: string };

const parse = (text: string): unknown => JSON.parse(Buffer.from(text, "base64url").toString());

describe("signed requests", () => {
  it("are ES256 over header and payload, and verify with the public key alone", async () => {
    const key = await newPrivateKey();
    const jws = JSON.parse(signRequest(key, { kid: "https://ca/acct/1" }, { url: "https://ca/x", nonce: "abc", payload: { a: 1 } })) as Jws;
    assert.deepEqual(parse(jws.protected), { alg: "ES256", kid: "https://ca/acct/1", nonce: "abc", url: "https://ca/x" });
    assert.deepEqual(parse(jws.payload), { a: 1 });
    const signature = Buffer.from(jws.signature, "base64url");
    assert.equal(signature.length, 64);
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`);
    assert.ok(verify("sha256", signed, { key: createPublicKey(key), dsaEncoding: "ieee-p1363" }, signature));
  });

  it("have an empty payload for a POST-as-GET", async () => {
    const jws = JSON.parse(signRequest(await newPrivateKey(), { kid: "k" }, { url: "u", nonce: "n", payload: null })) as Jws;
    assert.equal(jws.payload, "");
  });

  it("never carry the private key", async () => {
    const key = await newPrivateKey();
    const { d } = key.export({ format: "jwk" });
    const jws = signRequest(key, { jwk: publicJwk(key) }, { url: "u", nonce: "n", payload: publicJwk(key) });
    assert.ok(!JSON.stringify(parse((JSON.parse(jws) as Jws).protected)).includes(String(d)));
    assert.deepEqual(Object.keys(publicJwk(key)), ["crv", "kty", "x", "y"]);
  });

  it("a thumbprint is the one that RFC 7638 defines", () => {
    // The P-256 key of RFC 7517 appendix A.2.
    const jwk = {
      kty: "EC",
      crv: "P-256",
      x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
      y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
      d: "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
    };
    assert.equal(thumbprint(createPrivateKey({ key: jwk, format: "jwk" })), "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s");
  });

  it("an external binding is the account's public key, signed with the external HMAC key", async () => {
    const key = await newPrivateKey();
    const secret = Buffer.from("a secret of the operator");
    const bound = JSON.parse(
      JSON.stringify(bindExternalAccount(key, { keyId: "kid", hmacKey: secret.toString("base64url") }, "https://ca/new")),
    ) as Jws;
    assert.deepEqual(parse(bound.protected), { alg: "HS256", kid: "kid", url: "https://ca/new" });
    assert.deepEqual(parse(bound.payload), publicJwk(key));
    assert.equal(bound.signature, createHmac("sha256", secret).update(`${bound.protected}.${bound.payload}`).digest("base64url"));
  });

  it("other kinds of key are refused", () => {
    assert.throws(() => publicJwk(generateKeyPairSync("ed25519").privateKey), TypeError);
    assert.throws(() => publicJwk(generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey), TypeError);
  });
});
