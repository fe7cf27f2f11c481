import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask, startService } from "./support/service.ts";

const now = Date.UTC(2026, 5, 15, 12, 34, 56);

async function securityText(t: TestContext, env: Record<string, string>) {
  const service = await startService({ env, clock: () => now });
  t.after(() => service.close());
  return ask<string>(`${service.address}/.well-known/security.txt`, "GET");
}

test("security.txt has the contacts of SECURITY_CONTACT, its own address and an expiry date", async (t) => {
  const SECURITY_CONTACT = "https://pets.example/report, mailto:security@pets.example, pets@security.example";
  const { status, headers, body } = await securityText(t, { SECURITY_CONTACT, PUBLIC_URL: "https://pets.example" });
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
  assert.deepEqual(body.split("\n"), [
    "Contact: https://pets.example/report",
    "Contact: mailto:security@pets.example",
    "Contact: mailto:pets@security.example",
    "Expires: 2026-12-12T00:00:00Z",
    "Preferred-Languages: en",
    "Canonical: https://pets.example/.well-known/security.txt",
    "",
  ]);
});

test("over plain HTTP security.txt has no canonical address, which RFC 9116 asks to be https", async (t) => {
  const { body } = await securityText(t, { SECURITY_CONTACT: "tel:+1-201-555-0123" });
  assert.match(body, /^Contact: tel:\+1-201-555-0123\nExpires: /);
  assert.doesNotMatch(body, /Canonical/);
});

test("without SECURITY_CONTACT there is no security.txt", async (t) => {
  assert.equal((await securityText(t, {})).status, 404);
});
