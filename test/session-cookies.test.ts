import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import sql, { raw } from "sql-template-tag";
import { openService } from "../src/app/service.ts";
import { loadSettings } from "../src/app/settings.ts";
import { systemClock } from "../src/platform/clock.ts";
import { newMember, openBrowser, tokenIn } from "./support/dashboard.ts";
import { temporaryFolder } from "./support/folder.ts";
import { ask, edgeOfItsOwn, startService } from "./support/service.ts";

async function setCookie(t: TestContext, publicUrl: string): Promise<string> {
  const shop = await startService({ env: { PUBLIC_URL: publicUrl } });
  t.after(() => shop.close());
  const { link } = await shop.administration["members.invite"]({ account: shop.accountId, email: "ann@shop.example" });
  assert.ok(link.startsWith(`${publicUrl}/sign-in#token=`));
  const reply = await openBrowser(shop, publicUrl).ask("POST", "/sign-in/link", { token: tokenIn(link) });
  assert.equal(reply.status, 200);
  return reply.headers.getSetCookie()[0] ?? "";
}

test("behind HTTPS the cookie is bound to the host, HTTPS, and out of reach of scripts and other sites", async (t) => {
  const line = await setCookie(t, "https://pets.example");
  assert.match(line, /^__Host-petstore-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=2592000$/);
});

test("on plain HTTP the cookie goes without prefix and Secure on loopback only", async (t) => {
  assert.match(
    await setCookie(t, "http://localhost:8080"),
    /^petstore-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
  );
  assert.match(await setCookie(t, "http://pets.example"), /^__Host-petstore-session=.*; Secure;/);
});

test("behind HTTPS only the public origin may write, not this machine's names", async (t) => {
  const shop = await startService({ env: { PUBLIC_URL: "https://pets.example" } });
  t.after(() => shop.close());
  const person = await newMember(shop, { account: shop.accountId, email: "ann@shop.example", role: "owner" }, "https://pets.example");
  assert.equal((await person.ask("POST", "/categories", { name: "Dogs" })).status, 201);
  assert.equal((await person.ask("POST", "/categories", { name: "Cats" }, { origin: shop.address })).status, 403);
});

test("no password, token, cookie or key is in the log or the database", async (t) => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  const settings = loadSettings({ PORT: "0", DATA_DIR: temporaryFolder(t), ...edgeOfItsOwn });
  const service = await openService(settings, { clock: systemClock, log: pino({ level: "trace" }, stream) });
  const { account } = await service.administration["accounts.create"]({ name: "A", plan: "pro" });
  const email = "ann@shop.example";
  const { link } = await service.administration["members.invite"]({ account: account.id, email });
  const base = `${service.address}/dashboard/v1`;
  const send = (method: string, path: string, body: unknown, cookie = "") =>
    ask<{ key: string }>(base + path, method, { body, headers: { origin: service.address, cookie } });
  const cookieOf = (reply: { headers: Headers }) => reply.headers.getSetCookie()[0]?.split(";")[0] ?? "";

  const first = cookieOf(await send("POST", "/sign-in/link", { token: tokenIn(link) }));
  const second = cookieOf(await send("PUT", "/password", { password: "a long password" }, first));
  await send("POST", `/sign-in?password=a+long+password`, { email, password: "a long password" });
  await send("POST", "/sign-in", { email, password: "a wrong password" });
  const { key } = (await send("POST", "/keys", {}, second)).body;
  const { key: manager } = (await send("POST", "/keys", { scopes: ["keys:write", "orders:read"] }, second)).body;
  const params = { name: "createKey", arguments: { body: { scopes: ["orders:read"] }, idempotencyKey: "once" } };
  const call = { key: manager, body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } };
  const { body: made } = await ask<{ result: { structuredContent: { key: string } } }>(`${service.address}/mcp`, "POST", call);
  const secrets = [
    manager,
    made.result.structuredContent.key,
    tokenIn(link),
    first.split("=")[1],
    second.split("=")[1],
    "a long password",
    "a+long+password",
    "a wrong password",
    key,
  ];
  const rows = await Promise.all(
    ["members", "sign_in_links", "sessions", "keys", "idempotency"].map((table) => service.db.query(sql`SELECT * FROM ${raw(table)}`)),
  );
  await service.close();
  assert.ok(lines.length >= 5);
  for (const secret of secrets) {
    assert.ok(secret && secret.length > 8);
    assert.ok(!lines.join("").includes(secret), `${secret} is in the log`);
    assert.ok(!JSON.stringify(rows).includes(secret), `${secret} is in the database`);
  }
});
