import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problem } from "../../platform/problem.ts";
import { challengeFor, decideClaim, needsProof, proofIn, type Claim } from "./ownership.ts";

const secret = Buffer.alloc(32, 7);
const now = Date.UTC(2026, 0, 10);
const hourMs = 3_600_000;
const hostname = "www.example.com";
const challenge = challengeFor(secret, 2, hostname);
const wanted = { hostname, accountId: 2, projectId: 20, challenge };
const claim = (more: Partial<Claim>): Claim => ({
  accountId: 1,
  projectId: 10,
  status: "pending",
  createdAt: now - hourMs,
  verifiedAt: null,
  ...more,
});

describe("the challenge", () => {
  it("is a TXT record below the name, the same each time", () => {
    assert.equal(challenge.type, "TXT");
    assert.equal(challenge.name, "_petstore-challenge.www.example.com");
    assert.match(challenge.value, /^[0-9a-f]{40}$/);
    assert.deepEqual(challengeFor(secret, 2, hostname), challenge);
  });

  it("differs for another account, another name and another installation", () => {
    const others = [
      challengeFor(secret, 1, hostname),
      challengeFor(secret, 2, "example.com"),
      challengeFor(Buffer.alloc(32, 8), 2, hostname),
    ];
    // Account 12 with "3.example.com" must not read as account 1 with "23.example.com".
    const seams = [challengeFor(secret, 12, "3.example.com"), challengeFor(secret, 1, "23.example.com")];
    assert.equal(new Set([challenge, ...others, ...seams].map(({ value }) => value)).size, 6);
  });

  it("is met by one TXT record among others, and a look-up that failed proves nothing either way", () => {
    const records = ["v=spf1 -all", ` ${challenge.value} `].map((value) => ({ owner: challenge.name, value }));
    assert.equal(proofIn(challenge, { outcome: "records", records }), "present");
    assert.equal(proofIn(challenge, { outcome: "records", records: records.slice(0, 1) }), "absent");
    assert.equal(proofIn(challenge, { outcome: "none", nameExists: false }), "absent");
    assert.equal(proofIn(challenge, { outcome: "failed", reason: "timeout", server: "192.0.2.53" }), "unknown");
  });
});

describe("a proof is needed", () => {
  const mine = { accountId: 2, verifiedAt: now - 50 * hourMs };
  const theirs = { accountId: 1, verifiedAt: now - 60 * hourMs };
  it("where another account was ever verified for a name of the registrable domain", () => {
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, [theirs]), true);
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, [mine, theirs]), true);
  });

  it("not on a new domain, and not for the account that was there alone", () => {
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, []), false);
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, [mine]), false);
  });

  it("never for a name that verifies, and of a failing one only where another account came after it", () => {
    assert.equal(needsProof({ accountId: 2, status: "verified", verifiedAt: mine.verifiedAt }, [{ ...theirs, verifiedAt: now }]), false);
    assert.equal(needsProof({ accountId: 2, status: "failing", verifiedAt: mine.verifiedAt }, [theirs]), false);
    assert.equal(needsProof({ accountId: 2, status: "failing", verifiedAt: mine.verifiedAt }, [{ ...theirs, verifiedAt: now }]), true);
  });
});

describe("adding a name", () => {
  it("that nobody holds needs nothing", () => assert.equal(decideClaim(wanted, null, "absent", now), "add"));

  it("whose claim has lapsed after 48 hours needs nothing, so that nobody can squat", () => {
    const lapsed = claim({ createdAt: now - 48 * hourMs });
    assert.equal(decideClaim(wanted, lapsed, "absent", now), "add");
    assert.throws(() => decideClaim(wanted, claim({ createdAt: now - 48 * hourMs + 1 }), "absent", now), Problem);
  });

  it("that another account holds pending or failing is taken over by a proof", () => {
    assert.equal(decideClaim(wanted, claim({}), "present", now), "take_over");
    assert.equal(decideClaim(wanted, claim({ status: "failing", verifiedAt: now - hourMs }), "present", now), "take_over");
  });

  const refusals: [title: string, holder: Claim, proof: "present" | "absent" | "unknown", words: RegExp][] = [
    [
      "pending, without a proof, is refused with the record to create",
      claim({}),
      "absent",
      new RegExp(`TXT record.*_petstore-challenge\\.${hostname}.*${challenge.value}`),
    ],
    ["failing, without a proof, is refused", claim({ status: "failing", verifiedAt: now - hourMs }), "absent", /TXT record/],
    ["pending, with a look-up that failed, is refused for now", claim({}), "unknown", /Try again/],
    ["verified is refused, proof or not", claim({ status: "verified", verifiedAt: now }), "present", /attached to another project\.$/],
    ["by the same account is refused, proof or not", claim({ accountId: 2 }), "present", /another project of this account/],
    ["by the same project is refused", claim({ accountId: 2, projectId: 20 }), "present", /this project already/],
  ];
  for (const [title, holder, proof, words] of refusals)
    it(`held ${title}`, () =>
      assert.throws(
        () => decideClaim(wanted, holder, proof, now),
        (error) => error instanceof Problem && error.code === "domain_taken" && words.test(error.message),
      ));
});
