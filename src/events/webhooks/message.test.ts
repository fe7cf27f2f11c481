import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { newWebhookSecret, signedHeaders } from "./message.ts";

const body = JSON.stringify({ type: "pet.created", data: { name: "Žofie 🐈" } });

test("the package standardwebhooks verifies the signature of either secret of a rotation, and no other", () => {
  const [current, earlier] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders({ messageId: "evt_1", text: body }, Date.now(), [current, earlier]);
  for (const secret of [current, earlier]) assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  assert.throws(() => new Webhook(newWebhookSecret()).verify(body, headers), /No matching signature/);
  assert.throws(() => new Webhook(current).verify(body.replace("pet", "dog"), headers), /No matching signature/);
});

test("a secret is `whsec_` and the base64 of 24 to 64 bytes", () => {
  const secret = newWebhookSecret();
  assert.match(secret, /^whsec_[\w+/]+=*$/);
  const { length } = Buffer.from(secret.slice("whsec_".length), "base64");
  assert.ok(length >= 24 && length <= 64);
  assert.notEqual(newWebhookSecret(), secret);
});
