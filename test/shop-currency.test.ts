import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newMember } from "./support/dashboard.ts";
import { loggedEvents } from "./support/event-log.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

test("an owner chooses the currency of new prices, and takes the choice back; a wrong one, and a member's, change nothing", async () => {
  const { id, key } = await service.newAccount();
  const owner = await newMember(service, { account: id, email: "ann@shop.example", role: "owner" });
  const member = await newMember(service, { account: id, email: "bob@shop.example", role: "member" });
  type Answer = { account: object; code?: string; details?: { path: string; message: string }[] };
  const set = (currency: unknown, who = owner) => who.ask<Answer>("PATCH", "/account", { currency });
  const current = async () => {
    const seen = await service.ask<{ currency: string | null }>("GET", "/account", { key });
    const standing = await member.ask<{ account: { currency: string | null } }>("GET", "/session");
    assert.equal(standing.body.account.currency, seen.body.currency);
    return seen.body.currency;
  };
  assert.equal(await current(), null, "no owner has chosen one yet");
  assert.partialDeepStrictEqual((await set("CHF")).body.account, { name: "Test shop", lowStock: 3, currency: "CHF" });
  assert.equal(await current(), "CHF");
  assert.equal((await set("USD", member)).status, 403);
  const wrong: [unknown, string][] = [
    ["chf", "must be the code of a currency, such as EUR"],
    ["QQQ", "must be the code of a currency, such as EUR"],
    ["€€€", "must be the code of a currency, such as EUR"],
    ["EU", "must have at least 3 characters"],
    ["EURO", "must have at most 3 characters"],
    [978, "must be string"],
  ];
  for (const [given, message] of wrong) {
    const { status, body } = await set(given);
    assert.deepEqual([status, body.code, body.details], [400, "invalid_request", [{ path: "body.currency", message }]], String(given));
  }
  assert.equal(await current(), "CHF");
  await owner.ask("PATCH", "/account", { lowStock: 4 });
  assert.equal(await current(), "CHF", "other settings leave it as it is");
  await set("CHF");
  await set(null);
  assert.equal(await current(), null);
  const changes = (await loggedEvents(service.db, id)).filter(({ type }) => type === "account.updated");
  assert.deepEqual(
    changes.map(({ data, previous }) => [(data as { currency: string | null }).currency, previous]),
    [
      ["CHF", { currency: null }],
      ["CHF", { lowStock: 3 }],
      [null, { currency: "CHF" }],
    ],
  );
});
