import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import description from "../openapi.json" with { type: "json" };
import { stage } from "./support/browser.ts";
import { assertAccessibleOnPhone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { password, visitSignedIn } from "./support/signed-in.ts";

const [browser, service] = await stage(startService);

const hourMs = 3_600_000;

/** The scopes of all operations but those on keys. */
const everyScope = [
  ...new Set(
    Object.values(description.paths as Record<string, Record<string, { "x-scopes"?: string[] }>>)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) => operation["x-scopes"] ?? []),
  ),
]
  .filter((scope) => !scope.startsWith("keys:"))
  .toSorted();

type Key = { id: number; name: string; scopes: string[]; createdAt: string; expiresAt: string | null };

/** A new shop, of which an owner or a member is signed in and has the reference open at an operation. */
async function open(t: TestContext, operationId: string, role: "owner" | "member" = "owner") {
  const { id: account } = await service.newAccount();
  const visited = await visitSignedIn(t, browser, service, `/reference/${operationId}`, { account, role });
  const { page, context } = visited;
  const panel = page.getByRole("region", { name: "Try it" });
  return {
    ...visited,
    account,
    panel,
    offer: panel.getByRole("button", { name: /^Make a key of / }),
    key: panel.getByLabel("API key"),
    send: panel.getByRole("button", { name: "Send" }),
    confirmation: page.getByRole("dialog", { name: "Confirm your password" }),
    madeKeys: async () => {
      const keys = (await (await context.request.get(`${service.address}/dashboard/v1/keys`)).json()) as Key[];
      return keys.filter(({ name }) => name.startsWith("API reference"));
    },
    goTo: async (resource: string, name: string) => {
      const navigation = page.getByRole("navigation", { name: "API reference" });
      await navigation.locator("summary", { hasText: resource }).first().click();
      await navigation.getByRole("link", { name }).click();
    },
  };
}

test("an owner makes one key for all operations with one button: it ends after an hour, and only the page has it", async (t) => {
  const { page, panel, offer, key, send, madeKeys, requests } = await open(t, "createCategory");
  await offer.click();
  await panel.getByText(/^Works until .* for every operation here\. Only this page has it/).waitFor();
  const value = await key.inputValue();
  assert.match(value, /^psk_/);
  const [made] = await madeKeys();
  assert.equal(made?.name, "API reference");
  assert.deepEqual(made?.scopes.toSorted(), everyScope);
  const lifetimeMs = Date.parse(made?.expiresAt ?? "") - Date.parse(made?.createdAt ?? "");
  assert.ok(Math.abs(lifetimeMs - hourMs) < 60_000, `${lifetimeMs} ms`);

  await send.click();
  await panel.getByText("201 Created").waitFor();
  const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])";
  assert.ok(!(await page.evaluate<string>(kept)).includes(value));
  assert.ok(requests.every((request) => !request.includes(value)));
  assert.equal(await panel.getByLabel("Keep it until this tab is closed").count(), 0);
  await assertAccessibleOnPhone(page);
  await page.reload();
  assert.equal(await key.inputValue(), "");
});

test("a key that was made is offered no further for what it may do, and the next one takes its place", async (t) => {
  const { page, panel, offer, key, madeKeys, goTo } = await open(t, "listCategories");
  await offer.click();
  await panel.getByText(/for every operation here\./).waitFor();
  const first = await key.inputValue();
  await goTo("Animals", "List pets");
  await panel.getByText(/for every operation here\./).waitFor();
  await goTo("Webhooks", "Create a webhook endpoint");
  assert.deepEqual([await offer.count(), await key.inputValue()], [0, first], "one key for the session");
  await key.fill("psk_typed");
  const removed = page.waitForResponse((response) => response.request().method() === "DELETE");
  await offer.click();
  await panel.getByText(/for every operation here\./).waitFor();
  assert.notEqual(await key.inputValue(), first);
  assert.equal((await removed).status(), 204);
  assert.equal((await madeKeys()).length, 1);
  assert.equal((await service.ask("GET", "/categories", { key: first })).status, 401);
});

test("the page forgets a key that was made when it ends", async (t) => {
  const { page, panel, offer, key } = await open(t, "listCategories");
  await page.clock.install();
  await offer.click();
  await panel.getByText(/for every operation here\./).waitFor();
  await page.clock.fastForward(hourMs - 60_000);
  assert.match(await key.inputValue(), /^psk_/);
  await page.clock.fastForward(60_000);
  await offer.waitFor();
  assert.equal(await key.inputValue(), "");
});

test("a key that was typed is kept as before, and a key that was made gives way to it", async (t) => {
  const { panel, offer, key } = await open(t, "listCategories");
  await offer.click();
  await panel.getByText(/for every operation here\./).waitFor();
  await key.fill(service.key);
  await panel.getByLabel("Keep it until this tab is closed").waitFor();
  await offer.waitFor();
});

test("a session whose password was given long ago gives it again, and then has the key", async (t) => {
  const { page, account, panel, offer, key, confirmation, madeKeys } = await open(t, "listCategories");
  await service.db.write((tx) => tx.query(sql`UPDATE sessions SET confirmed_at = 0 WHERE account_id = ${account}`));
  await offer.click();
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  await panel.getByRole("alert").getByText("Confirm your password first.").waitFor();
  assert.deepEqual(await madeKeys(), []);
  await offer.click();
  await confirmation.getByLabel("Current password").fill(password);
  await confirmation.getByRole("button", { name: "Confirm" }).click();
  await panel.getByText(/for every operation here\./).waitFor();
  assert.match(await key.inputValue(), /^psk_/);
  assert.equal(await page.getByText("No response").count(), 0);
  assert.equal(await panel.getByText("401 Unauthorized").count(), 0, "the dialog's form does not send the panel's request");
});

test("no key is offered to a member who may make none, nor to somebody who is not signed in", async (t) => {
  const asked = "/dashboard/v1/browser-sessions";
  const member = await open(t, "listCategories", "member");
  const stranger = await visit(t, browser, `${service.address}/reference/listCategories`);
  for (const { page, requests } of [member, stranger]) {
    await page.getByRole("region", { name: "Try it" }).waitFor();
    if (!requests.some((request) => request.endsWith(asked))) await page.waitForResponse((response) => response.url().endsWith(asked));
    await page.waitForLoadState("networkidle");
    assert.equal(await page.getByRole("button", { name: /^Make a key/ }).count(), 0);
  }
  assert.ok(member.requests.some((request) => request.endsWith("/dashboard/v1/session")));
  assert.ok(!stranger.requests.some((request) => request.endsWith("/dashboard/v1/session")));
});
