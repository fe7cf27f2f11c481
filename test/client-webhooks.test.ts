import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { signWebhook, verifyWebhook, WebhookError } from "../client/webhooks.ts";

const now = () => 1_798_761_600_000;
const secret = `whsec_${Buffer.from("a secret of a shop's own, 32 byte").toString("base64")}`;
const other = `whsec_${Buffer.from("another secret, also of 32 bytes").toString("base64")}`;
const body = '{"type":"order.created","timestamp":"2027-01-01T00:00:00Z","data":{"id":1},"position":7}';

/** The signature by the words of the specification, made with Node's own functions. */
function signatureOf(of: string, id: string, timestamp: number, text: string): string {
  return `v1,${createHmac("sha256", Buffer.from(of.slice(6), "base64"))
    .update(`${id}.${timestamp}.${text}`)
    .digest("base64")}`;
}

const headersOf = (of = secret, timestamp = 1_798_761_600) => ({
  "webhook-id": "msg_1",
  "webhook-timestamp": String(timestamp),
  "webhook-signature": signatureOf(of, "msg_1", timestamp, body),
});

test("a message that the secret signed is returned, given as text or bytes, with either form of headers", async () => {
  for (const given of [body, new TextEncoder().encode(body)]) {
    for (const headers of [headersOf(), new Headers(headersOf())]) {
      const message = await verifyWebhook(secret, headers, given, { now });
      assert.deepEqual([message.type, message.position], ["order.created", 7]);
    }
  }
  assert.deepEqual(await signWebhook(secret, "msg_1", 1_798_761_600, body), headersOf());
});

test("during a rotation either secret verifies, whichever signature comes first", async () => {
  const both = `v1a,unknown ${headersOf(other)["webhook-signature"]} ${headersOf()["webhook-signature"]}`;
  for (const secrets of [secret, other, ["whsec_AAAA", secret]]) {
    const message = await verifyWebhook(secrets, { ...headersOf(), "webhook-signature": both }, body, { now });
    assert.equal(message.position, 7);
  }
});

test("what is wrong with a message is refused: signature, body, id, age, headers and secret", async () => {
  const refused: [string, string, object, string, RegExp][] = [
    ["another secret", other, headersOf(), body, /No secret/],
    ["a changed body", secret, headersOf(), `${body} `, /No secret/],
    ["another id", secret, { ...headersOf(), "webhook-id": "msg_2" }, body, /No secret/],
    ["301 seconds ago", secret, headersOf(secret, 1_798_761_299), body, /too old/],
    ["301 seconds ahead", secret, headersOf(secret, 1_798_761_901), body, /too old/],
    ["no number", secret, { ...headersOf(), "webhook-timestamp": "1e9" }, body, /seconds/],
    ["no signature", secret, { ...headersOf(), "webhook-signature": undefined }, body, /webhook-signature is missing/],
    ["not Base64", secret, { ...headersOf(), "webhook-signature": "v1,§§" }, body, /No secret/],
    [
      "another version",
      secret,
      { ...headersOf(), "webhook-signature": headersOf()["webhook-signature"].replace("v1", "v2") },
      body,
      /No secret/,
    ],
    ["no secret", "", headersOf(), body, /whsec_/],
  ];
  for (const [title, of, headers, text, message] of refused) {
    await assert.rejects(verifyWebhook(of, headers as Record<string, string>, text, { now }), (error) => {
      assert.ok(error instanceof WebhookError && message.test(error.message), `${title}: ${String(error)}`);
      return true;
    });
  }
  const many = { ...headersOf(), "webhook-signature": `${"v1,AAAA ".repeat(20)}${headersOf()["webhook-signature"]}` };
  await assert.rejects(verifyWebhook(secret, many, body, { now }), WebhookError, "only the first 16 signatures are compared");
  assert.equal((await verifyWebhook(secret, headersOf(secret, 1_798_761_300), body, { now })).position, 7);
});
