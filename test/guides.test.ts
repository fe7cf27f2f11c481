import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";
import { newWebhook, startReceiver } from "./support/webhooks.ts";

const folder = new URL("../docs/guides/", import.meta.url);
let shop: TestService;
before(async () => {
  shop = await startService({ env: { WEBHOOK_PRIVATE_ADDRESSES: "on" } });
  const { id } = await newCategory(shop, "Dogs");
  for (let i = 0; i < 21; i++) await newPet(shop, id, { name: "Rex" });
});
after(() => shop.close());

/** The blocks of code of a guide: their language and their text. */
function blocksOf(guide: string): { language: string; code: string }[] {
  const text = readFileSync(new URL(guide, folder), "utf8");
  return Array.from(text.matchAll(/^```(\w*)\n(.*?)^```$/gms), ([, language = "", code = ""]) => ({ language, code }));
}

/** The lines of a block that are headers, by name in lower case. */
function headersIn(code: string): Map<string, string> {
  return new Map(Array.from(code.matchAll(/^([\w-]+): (.*)$/gm), ([, name = "", value = ""]) => [name.toLowerCase(), value]));
}

/** For each guide, what its one block of code says, compared with the service. */
const checks: Record<string, (code: string) => Promise<void>> = {
  "errors.md": async (code) => {
    await made(shop, "PUT", "/store/inventory/1", { quantity: 4 });
    const { status, body } = await shop.ask<{ status: number }>("POST", "/store/orders", { body: { petId: 1, quantity: 9 } });
    assert.deepEqual([body, status], [JSON.parse(code), body.status]);
  },
  "idempotency.md": async (code) => {
    const [method = "", path = ""] = code.split("\n", 1).join("").split(" ");
    const headers = Object.fromEntries(headersIn(code));
    const send = () => shop.ask(method, path.replace(/^\/v1/, ""), { body: { petId: 2 }, headers });
    const [first, again] = [await send(), await send()];
    assert.deepEqual([first.status, again.status, again.body], [201, 201, first.body]);
    assert.deepEqual([first.headers.get("idempotent-replayed"), again.headers.get("idempotent-replayed")], [null, "true"]);
  },
  "limits.md": async (code) => {
    const { headers } = await shop.ask("GET", "/pets");
    for (const [name, example] of headersIn(code)) {
      assert.match(headers.get(name) ?? "", /^\d+$/, name);
      assert.match(example, /^\d+$/, name);
    }
    assert.deepEqual([...headersIn(code).keys()].length, 3);
  },
  "paging.md": async (code) => {
    const { headers } = await shop.ask("GET", "/pets?limit=20");
    assert.equal(`Link: ${headers.get("link")}\n`, code);
  },
  "webhooks.md": async (code) => {
    const receiver = await startReceiver();
    try {
      const { secret } = await newWebhook(shop, { url: receiver.url, types: ["category.created"] });
      await newCategory(shop, "Cats");
      await until(() => receiver.got.length === 1);
      const { headers, text } = receiver.got[0]!;
      const sent = (name: string): string => String(headers[name]);
      for (const name of headersIn(code).keys()) assert.notEqual(headers[name], undefined, name);
      // as the steps below the block say
      const signed = [sent("webhook-id"), sent("webhook-timestamp"), text].join(".");
      const key = Buffer.from(secret.replace("whsec_", ""), "base64");
      assert.equal(sent("webhook-signature"), `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
      assert.equal(headersIn(code).get("webhook-signature")?.length, sent("webhook-signature").length);
    } finally {
      await receiver.close();
    }
  },
};

for (const guide of readdirSync(folder)) {
  test(`the code of the guide ${guide} is what the service does`, async () => {
    const blocks = blocksOf(guide);
    const check = checks[guide];
    if (blocks.length === 0) return;
    assert.deepEqual([blocks.length, check === undefined], [1, false], "each block needs a check");
    await check?.(blocks[0]!.code);
  });
}
