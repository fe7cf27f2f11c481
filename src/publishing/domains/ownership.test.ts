import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problem } from "../../platform/problem.ts";
import { proofIn } from "../dns/dns.ts";
import { ownershipRecordFor, decideClaim, needsProof, type Claim } from "./ownership.ts";

const secret = Buffer.alloc(32, 7);
const now = Date.UTC(2026, 0, 10);
const hourMs = 3_600_000;
const hostname = "www.example.com";
const challenge = ownershipRecordFor(secret, 2, hostname);
const wanted = { hostname, accountId: 2, projectId: 20, challenge };
const claim = (more: Partial<Claim>): Claim => ({
  accountId: 1,
  projectId: 10,
  status: "pending",
  createdAt: now - hourMs,
  verifiedAt: null,
  ...more,
});

describe("the ownership record", () => {
  it("is a TXT record below the name, the same each time", () => {
    assert.equal(challenge.type, "TXT");
    assert.equal(challenge.name, "_petstore-challenge.www.example.com");
    assert.match(challenge.value, /^[0-9a-f]{40}$/);
    assert.deepEqual(ownershipRecordFor(secret, 2, hostname), challenge);
  });

  it("differs for another account, another name and another installation", () => {
    const others = [
      ownershipRecordFor(secret, 1, hostname),
      ownershipRecordFor(secret, 2, "example.com"),
      ownershipRecordFor(Buffer.alloc(32, 8), 2, hostname),
    ];
    // Account 12 with "3.example.com" must not give the same token as account 1 with "23.example.com".
    const seams = [ownershipRecordFor(secret, 12, "3.example.com"), ownershipRecordFor(secret, 1, "23.example.com")];
    assert.equal(new Set([challenge, ...others, ...seams].map(({ value }) => value)).size, 6);
  });

  it("is found among other TXT records, and a failed look-up proves nothing either way", () => {
    const records = ["v=spf1 -all", ` ${challenge.value} `].map((value) => ({ owner: challenge.name, value }));
    assert.equal(proofIn(challenge, { outcome: "records", records }), "present");
    assert.equal(proofIn(challenge, { outcome: "records", records: records.slice(0, 1) }), "absent");
    const { value } = challenge;
    for (const kept of [
      `"${value}"`,
      `\\"${value}\\"`,
      ` "${value}" `,
      `'${value}'`,
      `“${value}”`,
      `"${value.slice(0, 9)}" "${value.slice(9)}"`,
      `${value}\u200b`,
    ]) {
      const record = { owner: challenge.name, value: kept };
      assert.equal(proofIn(challenge, { outcome: "records", records: [record] }), "present", kept);
    }
    const other = { owner: challenge.name, value: `"${value}x"` };
    assert.equal(proofIn(challenge, { outcome: "records", records: [other] }), "absent");
    assert.equal(proofIn(challenge, { outcome: "none", nameExists: false }), "absent");
    assert.equal(proofIn(challenge, { outcome: "failed", reason: "timeout", server: "192.0.2.53" }), "unknown");
  });
});

describe("a proof is needed", () => {
  const mine = { accountId: 2, verifiedAt: now - 50 * hourMs };
  const theirs = { accountId: 1, verifiedAt: now - 60 * hourMs };
  it("if another account ever verified a name of the registrable domain", () => {
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, [theirs]), true);
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, [mine, theirs]), true);
  });

  it("not on a new domain, and not for the only account that was there", () => {
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, []), false);
    assert.equal(needsProof({ accountId: 2, status: "pending", verifiedAt: null }, [mine]), false);
  });

  it("never for a verified name, and for a failing one only if another account verified later", () => {
    assert.equal(needsProof({ accountId: 2, status: "verified", verifiedAt: mine.verifiedAt }, [{ ...theirs, verifiedAt: now }]), false);
    assert.equal(needsProof({ accountId: 2, status: "failing", verifiedAt: mine.verifiedAt }, [theirs]), false);
    assert.equal(needsProof({ accountId: 2, status: "failing", verifiedAt: mine.verifiedAt }, [{ ...theirs, verifiedAt: now }]), true);
  });
});

describe("adding a name", () => {
  const none = { own: "absent", holders: "absent" } as const;
  const proved = { own: "present", holders: "absent" } as const;

  it("that no account holds needs nothing", () => assert.equal(decideClaim(wanted, null, none, now), "add"));

  it("whose claim has lapsed after 48 hours needs nothing, so nobody can reserve a name for long", () => {
    const lapsed = claim({ createdAt: now - 48 * hourMs });
    assert.equal(decideClaim(wanted, lapsed, none, now), "add");
    assert.throws(() => decideClaim(wanted, claim({ createdAt: now - 48 * hourMs + 1 }), none, now), Problem);
  });

  for (const status of ["pending", "failing", "verified"] as const) {
    it(`whose claim by another account is ${status} is taken over with a proof, unless that account has its own proof in place`, () => {
      const holder = claim({ status, verifiedAt: status === "pending" ? null : now - hourMs });
      assert.equal(decideClaim(wanted, holder, proved, now), "take_over");
      for (const proofs of [none, { own: "unknown", holders: "unknown" }, { own: "present", holders: "present" }] as const) {
        assert.throws(
          () => decideClaim(wanted, holder, proofs, now),
          (error: Problem) => {
            assert.deepEqual([error.code, error.challenge], ["domain_taken", challenge]);
            assert.ok(error.message.includes(challenge.name), error.message);
            return true;
          },
        );
      }
    });
  }

  const refusals: [title: string, holder: Claim, words: RegExp][] = [
    ["the same account", claim({ accountId: 2 }), /another project of this account/],
    ["the same project", claim({ accountId: 2, projectId: 20 }), /already attached to this project/],
  ];
  for (const [title, holder, words] of refusals)
    it(`held by ${title} is refused even with a proof, and the refusal names no record`, () =>
      assert.throws(
        () => decideClaim(wanted, holder, proved, now),
        (error: Problem) => error.code === "domain_taken" && words.test(error.message) && error.challenge === undefined,
      ));
});
