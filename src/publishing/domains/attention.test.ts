import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attentionFor } from "./attention.ts";

const verifiedAt = Date.UTC(2026, 0, 1);
const due = verifiedAt + 30 * 60_000;
const waiting = {
  hostname: "www.example.com",
  status: "verified" as const,
  hasCertificate: false,
  expiredAt: null,
  wantedSince: verifiedAt,
  caa: "allowed" as const,
  certificateProblem: null,
};

describe("attention to a certificate that is late", () => {
  it("begins 30 minutes after the name was verified, not before", () => {
    assert.equal(attentionFor(waiting, due - 1), null);
    assert.equal(attentionFor(waiting, due)?.since, due);
  });

  it("begins at once when a certificate expires", () => {
    const expiredAt = verifiedAt + 5 * 60_000;
    const attention = attentionFor({ ...waiting, expiredAt }, expiredAt);
    assert.equal(attention?.since, expiredAt);
    assert.match(attention.message, /has expired/);
  });

  it("is not needed with a certificate, without an authority, or for a name that was never verified", () => {
    assert.equal(attentionFor({ ...waiting, hasCertificate: true }, due), null);
    assert.equal(attentionFor({ ...waiting, wantedSince: null }, due), null);
    assert.equal(attentionFor({ ...waiting, status: "pending" }, due), null);
  });

  it("lists the three checks: whether the name still verifies, whether a CAA record blocks, and Re-verify", () => {
    const attention = attentionFor({ ...waiting, certificateProblem: "connection refused" }, due)!;
    assert.deepEqual(
      attention.checks.map(({ check, passed }) => [check, passed]),
      [
        ["still_verifies", true],
        ["caa_allows", true],
        ["re_verify", null],
      ],
    );
    assert.match(attention.message, /still verifies.*CAA records.*allow.*Re-verify.*connection refused/);
  });

  it("says which check failed, and which could not be made", () => {
    const failing = attentionFor({ ...waiting, status: "failing", caa: "blocked" }, due)!;
    assert.deepEqual(
      failing.checks.map(({ passed }) => passed),
      [false, false, null],
    );
    assert.match(failing.message, /no longer verifies.*block the certificate authority/);
    assert.equal(attentionFor({ ...waiting, caa: "unknown" }, due)!.checks[1]!.passed, null);
  });
});
