import assert from "node:assert/strict";
import { test } from "node:test";
import { rootCertificates } from "node:tls";
import { throwAwayCertificate } from "../../../test/support/test-edge.ts";
import { isTrustedChain, rootsOf, rootsOfSystem } from "./former-authority.ts";

test("a chain is trusted if it leads to a root, and not if a root only has the name of its issuer", () => {
  const own = throwAwayCertificate("shop.test").cert;
  const other = throwAwayCertificate("shop.test").cert;
  assert.ok(isTrustedChain(own, rootsOf([own])));
  assert.ok(!isTrustedChain(own, rootsOf([other])), "the same name, another key");
  assert.ok(!isTrustedChain(own, rootsOfSystem()));
  assert.ok(isTrustedChain(rootCertificates[0]!, rootsOfSystem()));
  assert.ok(!isTrustedChain("", rootsOfSystem()));
  assert.ok(!isTrustedChain(own + rootCertificates[0]!, rootsOfSystem()), "a root that signed nothing of the chain");
});
